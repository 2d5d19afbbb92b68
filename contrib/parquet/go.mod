module github.com/tidemark/tidemark/contrib/parquet

go 1.26.0

replace github.com/tidemark/tidemark => ../../

require (
	github.com/parquet-go/parquet-go v0.32.0
	github.com/tidemark/tidemark v0.0.0
)

require (
	github.com/andybalholm/brotli v1.2.7 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.29 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
