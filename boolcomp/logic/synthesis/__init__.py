"""Network to network: fewer nodes or less depth, by ABC where there is one and by own means."""
