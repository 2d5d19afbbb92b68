package audience

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

var (
	rooms    = lists.Set("rooms")
	rosters  = lists.Set("rosters")
	bounds   = lists.Set("bounds")
	wrapping = lists.Set("wrapping")
	totals   = lists.Set("totals")
	entry    = lists.Set("entry")
	accounts = lists.Set("accounts")
)

// Directory is who the members of places are, as the server of the place lists them. The zero Directory knows nobody.
//
// A place is called by what the server was asked for, or by the id that it printed, never by the name that a record shows: anybody may
// call something of theirs so. A list that may be cut, filtered or about something else is none. It holds for the message during
// which it was read, until something but a text is done to the place.
type Directory struct {
	rosters map[string]roster
}

// roster are the members of a place: each by all that its entry calls them.
type roster struct {
	members [][]string
	turn    int
}

// maxPlaces and maxMembers bound what is remembered.
const (
	maxPlaces  = 256
	maxMembers = 2000
)

// IsRoom reports whether a parameter is for a place, by its name.
func IsRoom(path string) bool {
	path = strings.ReplaceAll(path, "[]", "")
	path = strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	bare := strings.TrimSuffix(strings.TrimSuffix(path, "_id"), "_name")
	return places[path] || rooms[bare] || rooms[arguments.LastWord(bare)]
}

// Place is a place of a server in one spelling. An address is one wherever it stands; any other name is the server's own.
func Place(server, name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || mail.MatchString(name) {
		return name
	}
	if name = "#" + strings.TrimLeft(name, "#"); server != "" {
		name += " at " + server
	}
	return name
}

// Spoken is a reader as people name them: a place without its server.
func Spoken(reader string) string {
	if name, ok := strings.CutPrefix(reader, "#"); ok {
		name, _, _ = strings.Cut(name, " at ")
		return name
	}
	return reader
}

// Listing is a result that may list the members of a place.
type Listing struct {
	Server  string
	Name    []string // words of the tool's name
	Args    []arguments.Leaf
	Content []byte
	Turn    int // the message during which it was read
}

// Learn takes a listing in. What is none changes nothing, but for a place that it names: of that one nobody knows any more.
func (d *Directory) Learn(l Listing) {
	if len(l.Content) > most || !json.Valid(l.Content) {
		return
	}
	v, ok := valueindex.Parse(l.Content)
	if !ok {
		return
	}
	place, most := l.place()
	switch {
	case place != "" && slices.ContainsFunc(l.Name, func(w string) bool { return rosters[w] }):
		members, whole := listed(&v)
		d.put(place, members, whole && (most == 0 || len(members) < most), l.Turn)
	default:
		d.each(&v, &l, 0)
	}
}

// place is the place that a call asks for, and how many entries it wants at most (0: all). Empty: it asks for something else besides.
func (l *Listing) place() (place string, most int) {
	for i := range l.Args {
		a := &l.Args[i]
		n, err := strconv.Atoi(a.Text)
		switch {
		case strings.TrimSpace(a.Text) == "":
		case IsRoom(a.Path) && place == "" && !a.Flag:
			place = Place(l.Server, a.Text)
		case err == nil && n > 0 && bounds[arguments.LastWord(strings.ToLower(a.Path))]:
			most = n
		default:
			return "", 0
		}
	}
	return place, most
}

// each takes in the records of a result that say who their members are, by the ids that the server gave them.
func (d *Directory) each(v *valueindex.Value, l *Listing, depth int) {
	if depth > deepest {
		return
	}
	var members *valueindex.Value
	var ids []string
	plain := v.Shape == valueindex.Object
	for i := range v.Kids {
		k := &v.Kids[i]
		key := strings.ToLower(k.Key)
		switch {
		case key == "members" && k.Shape == valueindex.List:
			members = k
		case k.Shape == valueindex.Scalar && identifies(key):
			ids = append(ids, k.Text)
		case !usual(key) && !blank(k):
			plain = false
		}
		if k.Shape != valueindex.Scalar && key != "members" {
			d.each(k, l, depth+1)
		}
	}
	if members == nil || len(ids) != 1 {
		return
	}
	people, whole := entries(members)
	d.put(Place(l.Server, ids[0]), people, whole && plain && counted(v, len(people)), l.Turn)
}

// identifies reports whether a field is the id of a place.
func identifies(key string) bool {
	place, ok := strings.CutSuffix(key, "_id")
	return key == "id" || ok && rooms[place]
}

// usual reports whether a place is known to have a field that says nothing of its members but how many they are.
func usual(key string) bool {
	return parts[key] || places[key] || opening[key] || flags[key] || wrapping[key] || totals[key]
}

// listed are the people of a result that lists them and nothing else, and whether they are all.
func listed(v *valueindex.Value) (people [][]string, whole bool) {
	if v.Shape == valueindex.List {
		return entries(v)
	}
	var list *valueindex.Value
	for i := range v.Kids {
		k := &v.Kids[i]
		switch key := strings.ToLower(k.Key); {
		case blank(k):
		case k.Shape == valueindex.List && list == nil && (rosters[key] || isList(key)):
			list = k
		case !wrapping[key] && !totals[key] && !places[key] && !rooms[key]:
			return nil, false
		}
	}
	if list == nil {
		return nil, false
	}
	people, whole = entries(list)
	return people, whole && counted(v, len(people))
}

func isList(key string) bool {
	return people[key] || key == "data" || key == "items" || key == "results"
}

// blank reports whether a field says nothing: no further page, no mistake.
func blank(v *valueindex.Value) bool {
	if v.Shape == valueindex.Scalar {
		return v.Text == "" || v.Text == "null" || v.Text == "false"
	}
	return !slices.ContainsFunc(v.Kids, func(k valueindex.Value) bool { return !blank(&k) })
}

// counted reports whether every number that stands beside a list is how many there are in it.
func counted(v *valueindex.Value, n int) bool {
	return !slices.ContainsFunc(v.Kids, func(k valueindex.Value) bool {
		got, err := strconv.Atoi(k.Text)
		return k.Shape == valueindex.Scalar && err == nil && totals[strings.ToLower(k.Key)] && got != n
	})
}

// entries are the people of a list, each by all that it calls them, and whether every entry was understood.
func entries(v *valueindex.Value) ([][]string, bool) {
	if len(v.Kids) == 0 || len(v.Kids) > maxMembers {
		return nil, false
	}
	var out [][]string
	for i := range v.Kids {
		who := called(&v.Kids[i])
		if len(who) == 0 {
			return nil, false
		}
		out = append(out, who)
	}
	return out, true
}

// called is what an entry calls somebody: itself, or its accounts and addresses. The name that people show is nobody's.
func called(v *valueindex.Value) []string {
	if v.Shape == valueindex.Scalar {
		if name := strings.ToLower(strings.TrimSpace(v.Text)); name != "" {
			return []string{name}
		}
		return nil
	}
	var out []string
	for i := range v.Kids {
		k := &v.Kids[i]
		key := strings.ToLower(k.Key)
		switch {
		case blank(k):
		case k.Shape == valueindex.Scalar && accounts[key]:
			out = append(out, strings.ToLower(strings.TrimSpace(k.Text)))
		case k.Shape != valueindex.Scalar || !entry[key]:
			return nil // somebody else may stand there: a group in a group
		}
	}
	return out
}

// put notes the members of a place, or that nobody knows them.
func (d *Directory) put(place string, members [][]string, whole bool, turn int) {
	if place == "" {
		return
	}
	if delete(d.rosters, place); !whole || len(d.rosters) >= maxPlaces {
		return
	}
	if d.rosters == nil {
		d.rosters = map[string]roster{}
	}
	d.rosters[place] = roster{members, turn}
}

// Forget drops the places of a server that a call names: something was done to them.
func (d *Directory) Forget(server string, names []string) {
	for _, n := range names {
		delete(d.rosters, Place(server, n))
	}
}

// Covers reports whether all of some readers may read what a set may: those it names, members of its places, and places all of whose
// members may. Somebody with several names is one of the readers by each of them, since they may have chosen one; who is among those
// that may read it already has nothing to win by that.
func (d *Directory) Covers(s, readers Set, turn int) bool {
	if s.Covers(readers) {
		return true
	}
	if readers.Public || len(d.rosters) == 0 {
		return false
	}
	may := d.within(s, turn)
	return !slices.ContainsFunc(readers.People, func(r string) bool {
		if may[r] {
			return false
		}
		list, known := d.rosters[r]
		return !known || list.turn != turn || slices.ContainsFunc(list.members, func(who []string) bool {
			return slices.ContainsFunc(who, func(name string) bool { return !may[name] })
		})
	})
}

// within are all who may read what a set may, places and their members.
func (d *Directory) within(s Set, turn int) map[string]bool {
	may := map[string]bool{}
	for _, p := range s.People {
		may[p] = true
		if list := d.rosters[p]; list.turn == turn {
			for _, who := range list.members {
				for _, name := range who {
					may[name] = true
				}
			}
		}
	}
	return may
}

// Pack writes the directory.
func (d *Directory) Pack(w *pack.Writer) {
	pack.Map(w, d.rosters, w.Text, func(r roster) {
		w.Int(r.turn)
		pack.List(w, r.members, func(who *[]string) { w.Texts(*who) })
	})
}

// Unpack reads what was packed.
func (d *Directory) Unpack(r *pack.Reader) {
	d.rosters = pack.ReadMap(r, r.Text, func() roster {
		out := roster{turn: r.Int()}
		out.members = pack.ReadList(r, func(who *[]string) { *who = r.Texts() })
		return out
	})
}
