package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// settle is how long a question must have stood on the screen, with no answer key
	// pressed, before a key answers it: one that slid under the cursor has not been read.
	settle = 300 * time.Millisecond
	// glance is the same after the person moved there: long enough to be drawn.
	glance = 60 * time.Millisecond
	// second is how often the clock is drawn.
	second = time.Second
	// maxNotes and maxMine bound what is remembered.
	maxNotes = 20
	maxMine  = 256
)

// What the screen tells itself.
type (
	clockMsg   time.Time
	settledMsg struct{ look int }
	votedMsg   struct {
		vote vote
		done voteDone
		err  error
	}
)

// screen is the state of the watch. Keys answer the question that was drawn: every
// change of what stands under the cursor is a new look, and a look must settle first.
type screen struct {
	ui    ui
	keys  keys
	post  func(vote) (voteDone, error)
	clock func() time.Time

	notify func(title, body string) // of a question that is new; nil: nobody

	width, height int
	now           time.Time
	asks          []ask  // open, oldest first
	selected      string // id under the cursor
	lost          string // why the server cannot be heard; empty while it can
	heard         bool   // a snapshot has come
	notes         []string

	drawn  string // id and content under the cursor when it was drawn
	look   int    // counts what was drawn under the cursor
	ready  bool   // the look has settled
	slid   bool   // it was not the person who moved the cursor
	voting string // id of the question whose answer is on its way
	mine   []string

	whole  bool // values are shown in full
	scroll int
	pane   int // lines of the question drawn last
	help   bool
	form   *form
	why    *why
	sure   *sure // an approval that waits for its second gesture

	deaf    bool // keys mean nothing until esc or a silence
	pressed int  // counts keys while deaf
}

func newScreen(u ui, post func(vote) (voteDone, error)) *screen {
	return &screen{ui: u, keys: newKeys(), post: post, clock: time.Now, now: time.Now()}
}

// Init implements tea.Model.
func (m *screen) Init() tea.Cmd { return tick() }

func tick() tea.Cmd { return tea.Tick(second, func(t time.Time) tea.Msg { return clockMsg(t) }) }

// Update implements tea.Model.
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.clock()
	rest := settle
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		rest = glance
		cmd = m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case clockMsg:
		m.expire()
		cmd = tick()
	case silentMsg:
		m.deaf = m.deaf && msg.key != m.pressed
	case settledMsg:
		m.ready = m.ready || msg.look == m.look
	case snapshotMsg:
		m.snapshot(msg.asks)
	case askMsg:
		m.change(msg.ask)
	case definitionsMsg:
		m.definitions(msg.asks)
	case lostMsg:
		m.lost = fmt.Sprintf("connection lost (%s); trying again in %s", line(msg.err.Error()), msg.pause())
	case votedMsg:
		m.voted(msg)
	}
	return m, tea.Batch(cmd, m.redraw(rest))
}

// redraw notices that something else stands under the cursor than was drawn before.
func (m *screen) redraw(rest time.Duration) tea.Cmd {
	left := m.leaveForms()
	a, _ := m.current()
	drawn := a.ID + "\n" + string(a.raw)
	if drawn == m.drawn {
		return left
	}
	m.drawn, m.scroll = drawn, 0
	return tea.Batch(left, m.lookAgain(rest))
}

// lookAgain takes the answer keys away until the look has settled.
func (m *screen) lookAgain(rest time.Duration) tea.Cmd {
	m.look++
	m.ready, m.slid = false, rest == settle
	look := m.look
	return tea.Tick(rest, func(time.Time) tea.Msg { return settledMsg{look} })
}

// current is the question under the cursor.
func (m *screen) current() (ask, bool) {
	i := indexOf(m.asks, m.selected)
	if i < 0 {
		return ask{}, false
	}
	return m.asks[i], true
}

func (m *screen) snapshot(asks []ask) {
	if m.lost != "" && m.heard {
		m.note("connected again")
	}
	was := m.heard
	m.lost, m.heard = "", true
	before := m.asks
	place := indexOf(m.asks, m.selected)
	m.asks = slices.DeleteFunc(slices.Clone(asks), func(a ask) bool { return !a.open(m.now) || slices.Contains(m.mine, a.ID) })
	slices.SortFunc(m.asks, older)
	for _, a := range m.asks {
		if was && indexOf(before, a.ID) < 0 { // it came while nobody was listening
			m.told(a)
		}
	}
	for _, a := range before {
		if indexOf(m.asks, a.ID) >= 0 {
			continue
		}
		if i := indexOf(asks, a.ID); i >= 0 {
			a = asks[i]
		} else {
			a.State = "" // it left while nobody was listening
		}
		m.farewell(a)
	}
	m.keepPlace(place)
}

func (m *screen) change(a ask) {
	i := indexOf(m.asks, a.ID)
	switch {
	case !a.open(m.now):
		if i >= 0 {
			m.remove(a.ID)
			m.farewell(a)
		}
	case slices.Contains(m.mine, a.ID): // news from before our answer
	case i >= 0:
		m.asks[i] = a
	default:
		m.asks = append(m.asks, a)
		m.told(a)
	}
	slices.SortFunc(m.asks, older)
	m.keepPlace(0)
}

func (m *screen) expire() {
	for _, a := range slices.Clone(m.asks) {
		if a.late(m.now) {
			m.remove(a.ID)
			m.farewell(a)
		}
	}
}

// remove takes a question off the list; the cursor stays where it is.
func (m *screen) remove(id string) {
	place := indexOf(m.asks, m.selected)
	m.asks = slices.DeleteFunc(m.asks, func(a ask) bool { return a.ID == id })
	m.keepPlace(place)
}

// keepPlace puts the cursor on a question if it is on none.
func (m *screen) keepPlace(place int) {
	if indexOf(m.asks, m.selected) >= 0 {
		return
	}
	m.selected = ""
	if len(m.asks) > 0 {
		m.selected = m.asks[min(max(place, 0), len(m.asks)-1)].ID
	}
}

// farewell says why a question has left.
func (m *screen) farewell(a ask) {
	if a.ID == m.voting || slices.Contains(m.mine, a.ID) {
		return // our own answer says it
	}
	switch {
	case a.State == "approved" || a.State == "spent":
		m.note("answered elsewhere: " + a.name() + " was approved" + a.signed())
	case a.State == "denied":
		m.note("answered elsewhere: " + a.name() + " was denied" + a.signed())
	case a.State == "expired" || a.late(m.now):
		m.note("timed out: " + a.name() + "; nobody answered, it did not run")
	case a.State == "dead":
		m.note("closed: " + a.name() + " had too many wrong codes")
	default:
		m.note("no longer open: " + a.name())
	}
}

// voted is the server's word on our answer.
func (m *screen) voted(msg votedMsg) {
	m.voting = ""
	a := msg.vote.ask
	if msg.err != nil {
		m.note(fmt.Sprintf("not answered: %s: %s", a.name(), line(msg.err.Error())))
		return
	}
	for _, id := range append(msg.done.Resolved, a.ID) {
		if !slices.Contains(m.mine, id) {
			m.mine = append(m.mine, id)
		}
		m.remove(id)
	}
	m.mine = m.mine[max(0, len(m.mine)-maxMine):]
	said := map[string]string{"approve": "approved ", "deny": "denied "}[msg.vote.Decision] + a.name()
	if msg.done.Notice != "" {
		said += ": " + line(msg.done.Notice)
	}
	m.note(said)
}

// note adds a line for the person; the same one twice in a row is one.
func (m *screen) note(text string) {
	if n := len(m.notes); n > 0 && m.notes[n-1] == text {
		return
	}
	m.notes = append(m.notes, text)
	m.notes = m.notes[max(0, len(m.notes)-maxNotes):]
}
