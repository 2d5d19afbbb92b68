// Package accounts knows the people who have a token of their own, so that the log says who did
// something and not only in which role.
//
// It reads and writes one file, and does no other I/O: the clock and randomness are handed in,
// and what has to be recorded is handed out.
//
// Invariants:
//   - a token is shown once, when it is made; the file holds its hash alone;
//   - a name is one person's, and cannot be taken for a role or for an account elsewhere;
//   - a token counts only after it is recorded that it was made, and no longer than its entry stands;
//   - a file that cannot be read, or that others can read, names nobody and is an error;
//   - where several servers have one log, it is the log that says who has a token, at all of them alike.
package accounts

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
)

// Roles are what a person's token may be good for.
var Roles = []string{"reader", "approver", "admin"}

// AgentRole is that of a token which one agent has: what comes with it is that agent's and nobody else's.
const AgentRole = "agent"

// maxAgents bounds the tokens of agents, which whoever has the common one may make.
const maxAgents = 800

// maxOfMachine bounds those of one other machine.
const maxOfMachine = 24

// maxPeople bounds the file: every request with an unknown token is compared with all of it.
const maxPeople = 1000

// Person is somebody with a token, or an agent that has one.
type Person struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	Agent string `json:"agent,omitzero"` // of an agent's token: its id
	// Machine is that of an agent's token whose agent runs on another machine; a token of a machine without an agent is that of all of
	// its agents.
	Machine string    `json:"machine,omitzero"`
	Hash    string    `json:"hash"` // SHA-256 of the token, hex
	Made    time.Time `json:"made"`
}

// By is how the log names them: the role they came in, and who they are.
func (p *Person) By() string { return By(p.Role, p.Name) }

// By is a name in a role as the log has it.
func By(role, name string) string { return role + ":" + name }

// Options are what a Roster needs.
type Options struct {
	Path   string
	Now    func() time.Time
	Rand   io.Reader // a CSPRNG
	Record func(ctx context.Context, p event.Person) error
	// Kept is everybody with a token, as a log says that several servers have; nil: the file says it.
	Kept func() ([]Person, error)
	Left func(ctx context.Context, whose, by string) error // somebody's token was taken away; nil: nobody else wants to know
}

// Roster is the list. It is safe for concurrent use; nil is one without anybody.
type Roster struct {
	o Options

	mu   sync.Mutex
	list []Person // guarded by mu
}

// Open reads the file; without one there is nobody.
func Open(o Options) (*Roster, error) {
	if o.Path == "" || o.Now == nil || o.Rand == nil || o.Record == nil {
		return nil, errors.New("open roster: path, clock, randomness and a record are needed")
	}
	r := &Roster{o: o}
	if err := r.read(); err != nil || o.Kept == nil {
		return r, err
	}
	return r, r.move()
}

// moved is added to the name of a file whose people the log has taken over.
const moved = ".moved"

// move brings the people of a file into the log that servers share, once.
func (r *Roster) move() error {
	known, err := r.o.Kept()
	if err != nil {
		return fmt.Errorf("read people: %w", err)
	}
	list := r.list
	if r.list = nil; len(list) == 0 {
		return nil
	}
	for _, p := range list {
		if slices.ContainsFunc(known, func(o Person) bool { return o.Name == p.Name }) {
			continue
		}
		act := event.Person{
			Act: "token-added", By: "admin", Via: "start", Detail: p.By(), Agent: p.Agent, Machine: p.Machine, Token: p.Hash,
		}
		if err := r.o.Record(context.Background(), act); err != nil {
			return fmt.Errorf("move people into the log: %w", err)
		}
	}
	return os.Rename(r.o.Path, r.o.Path+moved)
}

// read reads the file.
func (r *Roster) read() error {
	raw, err := os.ReadFile(r.o.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read people: %w", err)
	}
	info, err := os.Stat(r.o.Path)
	if err != nil {
		return fmt.Errorf("read people: %w", err)
	}
	if fileowner.Open(info, 0o077) {
		return fmt.Errorf("read people: %s is readable by others (run: chmod 600 %s)", r.o.Path, r.o.Path)
	}
	var file struct {
		People []Person `json:"people"`
	}
	if err := strictjson.UnmarshalKnown(raw, &file); err != nil {
		return fmt.Errorf("read people %s: %w", r.o.Path, err)
	}
	for i := range file.People {
		if err := r.check(&file.People[i]); err != nil {
			return fmt.Errorf("read people %s: %w", r.o.Path, err)
		}
		r.list = append(r.list, file.People[i])
	}
	return nil
}

// now is everybody, as it is known now.
// Preconditions: mu is held.
func (r *Roster) now() ([]Person, error) {
	if r.o.Kept == nil {
		return r.list, nil
	}
	list, err := r.o.Kept()
	if err != nil {
		return nil, fmt.Errorf("read people: %w", err)
	}
	return list, nil
}

// check looks at an entry of the file before it counts.
func (r *Roster) check(p *Person) error {
	if err := checkName(p.Name); err != nil {
		return err
	}
	if hash, err := hex.DecodeString(p.Hash); err != nil || len(hash) != sha256.Size {
		return fmt.Errorf("the token of %s is no hash", p.Name)
	}
	if err := p.checkRole(); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	for _, o := range r.list {
		if o.Name == p.Name || o.Hash == p.Hash {
			return fmt.Errorf("%s stands there twice, or shares a token", p.Name)
		}
	}
	return nil
}

// name is what a person may be called: one word that reads the same in a log, a file and an address.
var name = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// taken are words that mean a role or nobody.
var taken = []string{"agent", "reader", "viewer", "owner", "approver", "admin", "none"}

func checkName(n string) error {
	if !name.MatchString(n) {
		return fmt.Errorf("the name %q: want up to 32 small letters, digits, dots, dashes and underscores", n)
	}
	if slices.Contains(taken, n) {
		return fmt.Errorf("the name %q is that of a role", n)
	}
	return nil
}

// agentID is what an agent may be called: hosts choose their own, and the log shows it.
var agentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$`)

// checkRole refuses a role that there is not, an agent's token without an agent, and a person's with one.
func (p *Person) checkRole() error {
	role, agent := p.Role, p.Agent
	switch {
	case p.Machine != "" && (role != AgentRole || !machineName.MatchString(p.Machine)):
		return fmt.Errorf("%q is no machine of an agent", p.Machine)
	case p.Machine != "" && agent == "":
		return nil
	case role == AgentRole && !agentID.MatchString(agent):
		return fmt.Errorf("the agent %q: want up to 128 letters, digits and . _ : @ / -, of which the first is a letter or a digit", agent)
	case role == AgentRole:
		return nil
	case !slices.Contains(Roles, role):
		return fmt.Errorf("there is no role %q (there are %s, and %s for one agent)", role, strings.Join(Roles, ", "), AgentRole)
	case agent != "":
		return fmt.Errorf("the role %s is a person's, and %q is an agent", role, agent)
	}
	return nil
}

// ErrTaken is returned for a name that somebody has.
var ErrTaken = errors.New("somebody has this name already; revoke their token first")

// ErrNobody is returned for a name that nobody has.
var ErrNobody = errors.New("nobody has a token of this name")

// ErrBad is returned for a name or a role that cannot be.
var ErrBad = errors.New("cannot be added")

// prefix begins the tokens of people.
const prefix = "tm-"

// Actor is who changes the list, and through which door.
type Actor struct{ By, Via string }

// Add makes a token for somebody. It is known here once.
func (r *Roster) Add(ctx context.Context, who Actor, name, role string) (token string, err error) {
	if role == "viewer" {
		role = "reader" // the same, in the word that some look for
	}
	return r.add(ctx, who, Person{Name: name, Role: role})
}

// AddAgent makes a token that is one agent's: the server sets the id of what comes with it.
func (r *Roster) AddAgent(ctx context.Context, who Actor, name, agent string) (token string, err error) {
	return r.add(ctx, who, Person{Name: name, Role: AgentRole, Agent: agent})
}

func (r *Roster) add(ctx context.Context, who Actor, p Person) (token string, err error) {
	if err := checkName(p.Name); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBad, err)
	}
	if err := p.checkRole(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBad, err)
	}
	var b [24]byte
	if _, err := io.ReadFull(r.o.Rand, b[:]); err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	token = prefix + p.Role + "-" + hex.EncodeToString(b[:])
	p.Hash, p.Made = hashOf(token), r.o.Now().UTC().Truncate(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.now()
	if err != nil {
		return "", err
	}
	if err := room(list, &p); err != nil {
		return "", err
	}
	added := event.Person{Act: "token-added", By: who.By, Via: who.Via, Detail: p.By(), Agent: p.Agent, Machine: p.Machine}
	if r.o.Kept != nil {
		added.Token = p.Hash
	}
	return token, r.change(ctx, added, append(slices.Clone(list), p))
}

// room says why nobody more of a kind fits, or whose the name is.
func room(list []Person, p *Person) error {
	agents, siblings := 0, 0
	for _, o := range list {
		if o.Name == p.Name {
			return ErrTaken
		}
		if o.Role == AgentRole {
			agents++
		}
		if p.Machine != "" && o.Machine == p.Machine {
			siblings++
		}
	}
	if siblings >= maxOfMachine {
		return fmt.Errorf("%w: the machine %s has %d tokens, and no more fit", ErrBad, p.Machine, siblings)
	}
	if len(list) >= maxPeople || p.Role == AgentRole && agents >= maxAgents {
		return fmt.Errorf("%w: there are %d tokens (%d of them agents'), and no more fit", ErrBad, len(list), agents)
	}
	return nil
}

// Revoke takes somebody's token away, at once.
func (r *Roster) Revoke(ctx context.Context, who Actor, name string) (Person, error) {
	p, err := r.revoke(ctx, who, name)
	if err == nil && r.o.Left != nil {
		err = r.o.Left(ctx, p.By(), who.By)
	}
	return p, err
}

func (r *Roster) revoke(ctx context.Context, who Actor, name string) (Person, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.revokeAgentsOf(ctx, who, name); err != nil {
		return Person{}, err
	}
	list, err := r.now()
	if err != nil {
		return Person{}, err
	}
	i := slices.IndexFunc(list, func(o Person) bool { return o.Name == name })
	if i < 0 {
		return Person{}, ErrNobody
	}
	p := list[i]
	next := slices.Delete(slices.Clone(list), i, i+1)
	return p, r.change(ctx, event.Person{Act: "token-revoked", By: who.By, Via: who.Via, Detail: p.By()}, next)
}

// change records what was done, writes the file where there is one, and only then counts it.
// Preconditions: mu is held.
func (r *Roster) change(ctx context.Context, what event.Person, next []Person) error {
	if err := r.o.Record(ctx, what); err != nil {
		return fmt.Errorf("record %s: %w", what.Act, err)
	}
	if r.o.Kept != nil {
		return nil
	}
	raw, err := strictjson.MarshalIndent(map[string][]Person{"people": next})
	if err != nil {
		return fmt.Errorf("write people: %w", err)
	}
	file := r.o.Path + ".new"
	if err := os.WriteFile(file, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write people: %w", err)
	}
	if err := os.Rename(file, r.o.Path); err != nil {
		return fmt.Errorf("write people: %w", err)
	}
	r.list = next
	return nil
}

// Find is whose token it is. It compares with every one, so that the time says nothing.
func (r *Roster) Find(token string) (Person, bool) {
	if r == nil || !strings.HasPrefix(token, prefix) {
		return Person{}, false
	}
	hash := []byte(hashOf(token))
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.now()
	if err != nil {
		return Person{}, false // without the log nobody is anybody
	}
	found := -1
	for i := range list {
		if subtle.ConstantTimeCompare(hash, []byte(list[i].Hash)) == 1 {
			found = i
		}
	}
	if found < 0 {
		return Person{}, false
	}
	return list[found], true
}

// Named reports whether somebody has a token under a name.
func (r *Roster) Named(name string) bool {
	return slices.ContainsFunc(r.List(), func(p Person) bool { return p.Name == name })
}

// List is everybody, by name.
func (r *Roster) List() []Person {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list, _ := r.now() // without the log there is nobody to be shown
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b Person) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
