module hello-handlers

go 1.25

require pawl.dev/sdk/go v0.1.0

replace pawl.dev/sdk/go => {{sdk}}
