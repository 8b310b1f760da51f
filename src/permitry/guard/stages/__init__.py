"""The stages of a call, one file each: a function from a case to the next case, or to an outcome that ends the way."""
