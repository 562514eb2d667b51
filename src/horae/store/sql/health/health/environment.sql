select environment from cell
