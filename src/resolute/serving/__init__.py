"""Model servers: KServe's V1 and V2 over HTTP and gRPC, batching, archives, and the router with canary."""
