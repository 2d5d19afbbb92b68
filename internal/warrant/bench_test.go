package warrant_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

func BenchmarkHear2kB(b *testing.B) {
	text := strings.Repeat("Please look at the parcels of Ilse Brandt, rename the oldest to Birch and mail her what you found. ", 20)
	b.ReportAllocs()
	for b.Loop() {
		world(text).Is(warrant.FactSpoken, "") // a message is heard when something is asked
	}
}

func BenchmarkOf(b *testing.B) {
	c := argued("Please look at the parcels of Ilse Brandt, rename the oldest to Birch and mail ilse@brandt-holz.example what you found.")
	read(c, "find_parcels", `{"owner":"Ilse Brandt"}`, `[{"owner":"Ilse Brandt","parcel_id":"prc-5512"},{"owner":"Tor Vik","parcel_id":"prc-7781"}]`)
	for name, args := range map[string]string{
		"mail_letter":  `{"recipient":"ilse@brandt-holz.example","subject":"parcels","body":"There are two parcels, and the oldest is now called Birch."}`,
		"find_parcels": `{"owner":"Ilse Brandt"}`, "rename_parcel": `{"parcel_id":"prc-5512","title":"Birch"}`,
	} {
		b.Run(name, func(b *testing.B) {
			a := tool.NewArgs([]byte(args))
			b.ReportAllocs()
			for b.Loop() {
				c.Of(name, &a)
			}
		})
	}
}
