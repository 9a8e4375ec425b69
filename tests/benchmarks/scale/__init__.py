"""A discrete-event simulation of many accounts and messages: what a deployment holds, and where it
breaks."""
