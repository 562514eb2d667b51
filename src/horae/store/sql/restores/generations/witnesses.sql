select w.cell, w.generation from cell_witness w
