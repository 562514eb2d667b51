"""The bare side: the same tables and statements with nothing around them."""
