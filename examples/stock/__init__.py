"""Stock: a shop keeps the quantity of every product beside its own, asked one by one of an inventory system."""
