package heap

import "os"

func machine() int64 { return On(os.DirFS("/")) }
