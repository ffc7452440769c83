"""What a Transformer that is split over devices takes of the memory of each."""
