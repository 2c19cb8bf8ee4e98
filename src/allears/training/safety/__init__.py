"""How the layers of the crisis screen are trained and weighed."""
