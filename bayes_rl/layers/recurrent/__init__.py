"""Cells of recurrent networks with one draw of the weights for a whole sequence."""
