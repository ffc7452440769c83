"""Cells of recurrent networks with one draw of the weights for a whole sequence.

* cells.py: What recurrent cells with a posterior over their weights share
* gru.py: GRU cells with a posterior over their kernels
* lstm.py: LSTM cells with a posterior over their kernels
* lstm_rank1.py: LSTM cell with a rank-1 posterior over its kernels
* sequences.py: One draw a sequence: what a recurrent cell computes once and uses at
  every time step
"""
