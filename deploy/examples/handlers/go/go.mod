module shop-handlers

go 1.25.0

require pawl.dev/sdk/go v0.1.0

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260706201446-f0a921348800 // indirect
	google.golang.org/grpc v1.84.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace pawl.dev/sdk/go => ../../../../clients/go
