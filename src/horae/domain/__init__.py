"""Rules on paper: plain functions over frozen values. Time and chance come in as arguments."""
