select true
