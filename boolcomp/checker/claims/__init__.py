"""What the sections `sketch` and `graph` say: functions, and the words that stand for them."""
