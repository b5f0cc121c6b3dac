"""Logic that errs a little more and is smaller, checked against what is allowed."""
