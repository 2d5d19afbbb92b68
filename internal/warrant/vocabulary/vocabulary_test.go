package vocabulary_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// load is shared: a table does not change.
var load = sync.OnceValue(vocabulary.Load)

// sketch writes a reading down: !act #thing and the names of what words steer, in order.
func sketch(words []vocabulary.Word) string {
	t := load()
	var out []string
	for _, w := range words {
		for _, id := range w.Acts {
			out = append(out, "!"+t.Act(id).Name)
		}
		for _, id := range w.Things {
			out = append(out, "#"+t.Thing(id).Name)
		}
	}
	return strings.Join(out, " ")
}

func hears(words []vocabulary.Word, g vocabulary.Gram) bool {
	for _, w := range words {
		if w.Gram.Has(g) {
			return true
		}
	}
	return false
}

func TestTheDataIsUnderstood(t *testing.T) {
	for _, f := range load().Faults() {
		t.Error(f)
	}
	if n := len(load().Acts()); n < 200 {
		t.Errorf("%d acts", n)
	}
	if n := len(load().Things()); n < 180 {
		t.Errorf("%d things", n)
	}
	for _, a := range load().Acts() {
		if a.Classes == 0 {
			t.Errorf("act %s has no class", a.Name)
		}
	}
}

// Each sentence must be heard with these acts and things among its words.
func TestRequestsAreHeardInEveryLanguage(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Turn the light in the kitchen off", "!turn-off #light #kitchen"},
		{"Send the report to Dana", "!send #report"},
		{"Can you look up the weather", "!look-up #weather"},
		{"I'd like you to cancel my subscription", "!cancel #subscription"},
		{"Open a pull request for the branch", "!open-new #pull-request #branch"},
		{"Get rid of the old files", "!delete #file"},

		{"Mach bitte das Licht in der Küche aus", "!turn-off #light #kitchen"},
		{"Leite die E-Mail an Dana weiter", "!forward #mail"},
		{"Kannst du den Termin verschieben?", "!reschedule #appointment"},
		{"Leg einen neuen Ordner an", "!create #folder"},
		{"Ich möchte das Abo kündigen", "!cancel #subscription"},
		{"Bitte die Monatsrechnung bezahlen", "!pay #invoice"},
		{"Loesche die Datei", "!delete #file"},
		{"Vergiss nicht, die Datei abzuschicken", "!send #file"},

		{"Peux-tu m'envoyer la facture ?", "!send #invoice"},
		{"Supprime le fichier", "!delete #file"},
		{"Allume la lumière du salon", "!turn-on #light"},
		{"Réserve une chambre d'hôtel", "!book #room #hotel"},

		{"Mándalo por correo", "!send #mail"},
		{"Apaga la luz de la cocina", "!turn-off #light #kitchen"},
		{"Por favor, elimina el archivo", "!delete #file"},
		{"Quiero reservar una mesa en el restaurante", "!book #restaurant"},

		{"Envie a mensagem para o grupo", "!send #message #group"},
		{"Apague o arquivo", "!delete #file"},
		{"Você pode agendar uma reunião?", "!schedule #meeting"},

		{"Invia il messaggio al gruppo", "!send #message #group"},
		{"Accendi la luce in cucina", "!turn-on #light #kitchen"},
		{"Cancellalo dal calendario", "!delete #calendar"},

		{"Zet de lamp aan", "!turn-on #light"},
		{"Stuur het bestand door", "!forward #file"},
		{"Verwijder de afspraak uit mijn agenda", "!delete #appointment #calendar"},

		{"请把发票发给王芳", "!send #invoice"},
		{"帮我删除这个文件", "!delete #file"},
		{"打开厨房的灯", "!turn-on #kitchen #light"},
		{"幫我轉帳給媽媽", "!transfer #family"},
		{"取消明天的会议", "!cancel #meeting"},

		{"メールを削除してください", "!delete #mail"},
		{"会議を予約して", "!book #meeting"},
		{"台所の電気を消して", "!turn-off #kitchen #light"},
		{"請求書を送ってくれますか", "!send #invoice"},

		{"이메일을 삭제해 주세요", "!delete #mail"},
		{"친구에게 메시지를 보내줘", "!send #friend #message"},
		{"거실 불 꺼줘", "!turn-off #light"},
		{"호텔 예약해줘", "!book #hotel"},

		{"أرسل الرسالة إلى أحمد", "!send #message"},
		{"احذف الملف من فضلك", "!delete #file"},
		{"هل يمكنك حجز فندق؟", "!book #hotel"},
		{"أضف موعدا إلى التقويم", "!add #calendar"},

		{"Skicka filen till Dana", "!send #file"},
		{"Tänd ljuset i köket", "!turn-on #light"},
		{"Slett filen", "!delete #file"},
		{"Kan du betale regningen", "!pay"},
		{"Usuń plik", "!delete #file"},
		{"Dodaj spotkanie do kalendarza", "!add #meeting"},
		{"Удали файл, пожалуйста", "!delete #file"},
		{"Не отправляй письмо", "!send #mail"},
		{"Dosyayı sil", "!delete"},
	} {
		got := " " + sketch(load().Words(c.text)) + " "
		for want := range strings.FieldsSeq(c.want) {
			if !strings.Contains(got, " "+want+" ") {
				t.Errorf("%q is heard as %q, without %s", c.text, got, want)
			}
		}
	}
}

func TestWordsThatSteerAreHeard(t *testing.T) {
	for _, c := range []struct {
		text string
		want vocabulary.Gram
	}{
		{"Do not delete it", vocabulary.Negation},
		{"Don’t send it", vocabulary.Negation},
		{"Lösche die Datei nicht", vocabulary.Negation},
		{"N'envoie pas le message", vocabulary.Negation},
		{"No borres el correo", vocabulary.Negation},
		{"Não apague o arquivo", vocabulary.Negation},
		{"Non cancellare l'ordine", vocabulary.Negation},
		{"Verwijder het bestand niet", vocabulary.Negation},
		{"不要删除邮件", vocabulary.Negation},
		{"メールを削除しないで", vocabulary.Negation},
		{"이메일을 삭제하지 마세요", vocabulary.Negation},
		{"이메일은 지우지마", vocabulary.Negation},
		{"لا تحذف الملف", vocabulary.Negation},
		{"ولا تحذف الملف", vocabulary.Negation},
		{"Radera inte filen", vocabulary.Negation},
		{"Не удаляй файл", vocabulary.Negation},
		{"Nie usuwaj pliku", vocabulary.Negation},

		{"Where is my last order?", vocabulary.Question},
		{"Wo ist meine letzte Bestellung?", vocabulary.Question},
		{"Où est ma commande ?", vocabulary.Question},
		{"¿Dónde está mi pedido?", vocabulary.Question},
		{"我的订单在哪里？", vocabulary.Question},
		{"注文はどこですか", vocabulary.Question},
		{"내 주문이 어디 있어요?", vocabulary.Question},
		{"أين طلبي؟", vocabulary.Question},

		{"Could you close it", vocabulary.Polite},
		{"Könntest du das schließen", vocabulary.Polite},
		{"S'il te plaît, ferme la porte", vocabulary.Polite},
		{"Ferme la porte s’il vous plaît", vocabulary.Polite},
		{"ドアを閉めてください", vocabulary.Polite},

		{"Yes, go ahead", vocabulary.Assent},
		{"Ja, mach das", vocabulary.Assent},
		{"好的", vocabulary.Assent},
		{"はい、お願いします", vocabulary.Assent},
		{"نعم، تفضل", vocabulary.Assent},

		{"If it rains, close the windows", vocabulary.Condition},
		{"Wenn es regnet, schließ die Fenster", vocabulary.Condition},
		{"the cheapest flight", vocabulary.Selection},
		{"der billigste Flug", vocabulary.Selection},
		{"le vol le moins cher", vocabulary.Selection},
		{"最便宜的航班", vocabulary.Selection},
		{"delete all files", vocabulary.Quantity},
		{"Do what the mail says", vocabulary.Delegation},
		{"Please complete the remaining tasks", vocabulary.Delegation},
		{"Folge den Anweisungen", vocabulary.Delegation},
		{"按照邮件说的做", vocabulary.Delegation},
	} {
		if !hears(load().Words(c.text), c.want) {
			t.Errorf("%q: no word says %s", c.text, c.want)
		}
	}
}

// A word of one language is not read as the word of another that is written alike.
func TestLanguagesAreNotMixedUp(t *testing.T) {
	for _, c := range []struct {
		text string
		not  vocabulary.Gram
	}{
		{"Adicione uma nota no documento", vocabulary.Negation},
		{"The letter was sent by Dana", vocabulary.Question},
		{"Wer hat das geschrieben", vocabulary.Polite},
		{"Follow the user on the site", vocabulary.Delegation},
	} {
		if hears(load().Words(c.text), c.not) {
			t.Errorf("%q: a word says %s", c.text, c.not)
		}
	}
	if got := sketch(load().Words("Read the note from Manda")); strings.Contains(got, "!send") {
		t.Errorf("a name is read as a verb: %s", got)
	}
}

func TestWhatWasDoneIsTold(t *testing.T) {
	for _, text := range []string{"I deleted it", "gelöscht", "el archivo borrado"} {
		if !hears(load().Words(text), vocabulary.Done) {
			t.Errorf("%q does not tell of something done", text)
		}
	}
	for _, text := range []string{"Delete it", "Lösche das", "Borra el archivo"} {
		if hears(load().Words(text), vocabulary.Done) {
			t.Errorf("%q tells of something done", text)
		}
	}
}

func TestTokensThatStandForThemselvesStayWhole(t *testing.T) {
	text := "把~/docs/report.pdf发给tom@example.com or https://example.com/a?b=1, see acme/site, " +
		"set columnCount to 12.50 in my_file (#general)."
	var got []string
	for _, w := range load().Words(text) {
		if w.Kind != vocabulary.Plain {
			got = append(got, w.Text)
		}
	}
	want := []string{
		"~/docs/report.pdf", "tom@example.com", "https://example.com/a?b=1", "acme/site", "columncount", "12.50", "my_file", "#general",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSentencesAreCounted(t *testing.T) {
	last := 0
	for _, w := range load().Words("Open the file a.txt. Close it!\n\nWhy?  好的。删除") {
		last = w.Sentence
	}
	if last != 4 {
		t.Errorf("the last word is in sentence %d", last)
	}
}

func TestNamesAreTakenApart(t *testing.T) {
	for _, c := range []struct{ name, words, want string }{
		{"turnOnLight", "turn on|light", "!turn-on #light"},
		{"create_pull_request", "create|pull request", "!create #pull-request"},
		{"sendmessage", "send|message", "!send !message #message"},
		{"HTTPGetURL", "http|get|url", "!get #link"},
		{"gmail.send-email.v2", "gmail|send|email|v|2", "!send !email #mail"},
		{"checklist", "checklist", "#list"},
		{"git_unstar", "git|unstar", "!unstar"},
		{"enviar_correo", "enviar|correo", "!send #mail"},
		{"", "", ""},
	} {
		words := load().Name(c.name)
		var texts []string
		for _, w := range words {
			texts = append(texts, w.Text)
		}
		if got := strings.Join(texts, "|"); got != c.words {
			t.Errorf("%s is made of %s, not %s", c.name, got, c.words)
		}
		if got := sketch(words); got != c.want {
			t.Errorf("%s means %s, not %s", c.name, got, c.want)
		}
	}
}

func TestStemsAreDictionaryForms(t *testing.T) {
	for word, want := range map[string]string{
		"sent": "sent", "sending": "send", "Files": "file", "replies": "reply", "stopped": "stop",
		"gelöscht": "löschen", "widgets": "widget", "boxes": "box", "planning": "plan", "zebras": "zebra",
	} {
		if got := load().Stem(word); got != want {
			t.Errorf("%s comes from %s, not %s", word, got, want)
		}
	}
}
