package meaning

// Words of parameters.
const (
	paramsCredential = `password passwd passphrase passcode pwd secret token apikey pin otp credential cvv cvc mfa 2fa totp
		jwt cookie bearer auth authorization creditcard ssn`
	// paramsPaging turn a token into a place in a list.
	paramsPaging  = `page next cursor continuation sync max min limit num count resume pagination previous prev budget`
	paramsCommand = `command cmd shell script sql code javascript js python program expression statement bash powershell argv
		entrypoint snippet function macro formula lua`
	// commandNames make any tool that takes them a tool that runs something.
	commandNames = `command cmd shell script sql shell_command bash_command sql_query bash powershell command_line python_code`
	// codeNotRun before the word code mean something else.
	codeNotRun = `country zip currency language lang promo status error area discount coupon postal product airport region iata swift
		bar sort state city booking confirmation tracking reference exit response referral ticket hs color`
	paramsContent = `body text message content subject title description note comment caption summary html markdown headline detail
		remark memo reply data payload prompt instruction question answer patch diff value bio signature greeting feedback
		reason str string story tweet post input document article section paragraph line
		attachment image photo video media context thought observation agenda transcript cell street city location country
		zip state passenger label tag category status
		quote purpose header footer argument result annotation event item task todo
		abstract bulletpoint footnote`
	paramsSelector = `id uuid guid key name query q search filter keyword term pattern path file filename filepath folder directory dir
		index position row column cell range start end date day time month year city country location category tag label
		topic status number no ref reference slug branch commit sha repo repository project org organization table database
		collection bucket object selector xpath element symbol ticker origin departure arrival hotel restaurant flight
		company product airline cwd root glob line node since before after until deadline duedate duration when datetime
		timestamp event entry resource zip state region area street genre brand list notebook sheet
		workspace space board parent owner author sender from source thread message cuisine title
		artist album song track device zone property task item document namespace field ticket issue order
		booking reservation vehicle car itinerary seat cabin room class menu dish pr
		pullrequest job week weekday hour minute period season`
	paramsAmount = `amount price total sum cost fee quantity qty budget tip salary unit share stake bid payment
		donation deposit subtotal money balance night`
	paramsControl = `limit max min offset page size format sort orderby sortorder lang language locale timezone timeout verbose
		recursive force mode type level priority color colour width height currency cursor encoding unit n depth version method
		temperature k top strategy style theme visibility permission role access scope privilege order direction
		flag option enabled disabled interval frequency retry count step brightness volume dryrun delay port
		recurrence recurring repeat confirm confirmed importance sensitivity quality resolution precision radius rating
		star statuscode operation action background multiline threshold padding`
	controlPrefixes = `is has include exclude should enable disable use allow max min num skip only dry`
)

// Who and where a parameter can name, by the look of it.
const (
	targetEmail  = `email mail cc bcc mailto`
	targetURL    = `url uri link href endpoint webhook website webpage callback site feed`
	targetHost   = `host hostname domain server ip nameserver gateway registry`
	targetIBAN   = `iban account bic swift routing wallet accountnumber`
	targetPhone  = `phone mobile telephone msisdn fax whatsapp`
	targetPerson = `recipient to participant attendee invitee guest member collaborator assignee reviewer payee beneficiary user
		username contact person people friend receiver addressee audience subscriber follower employee who customer
		merchant vendor seller payer handle nickname mention supplier landlord creditor group team party`
	targetPlace = `channel room chat conversation destination dest mailbox address forum subreddit inbox queue
		dm`
	// Nouns of the sender's own side are not whom the act reaches.
	ownSide = `from sender source origin my own author owner self payer debit creator`
	// aimWords say that what goes with them is whom the act reaches.
	aimWords = `to recipient destination dest target receiver payee beneficiary forward invite notify cc bcc share`
	// streetWords are an address that no message goes to.
	streetWords = `street postal home residential mailing physical billing city building`
)

// paramsDeciding are what a careful owner looks at before saying yes.
const paramsDeciding = `role permission privilege visibility privacy audience sharing share access scope force decision verdict approval
	approve approved public private admin overwrite cascade permanent permanently hard purge`

// audiences are people nobody can list.
var audiences = [...]string{"anyone", "anybody", "everyone", "everybody", "public", "domain", "world", "anonymous", "anyonewithlink",
	"anyone_with_link", "anyone_with_the_link", "allusers", "all_users", "public_read", "public-read", "internet"}
