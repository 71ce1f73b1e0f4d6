"""The Kaptain SDK under its own name, for trainers and notebooks: every name here is ours."""
