package meaning

// The vocabulary: plain English and the usual words of programming interfaces. One word
// stands in at most one list of verbs; it may be a noun as well. A word missing here makes
// a tool less understood, never less guarded.

// Verbs by act.
const (
	verbsRead = `get open fetch list read search find lookup look query view show retrieve check count describe inspect
		browse download explore scan peek preview display see load compare summarize summarise analyze analyse
		locate discover detect extract monitor watch track tail head cat grep rg glob ls stat whoami ping
		predict recommend suggest classify rank filter explain identify determine measure crawl scrape navigate visit
		goto snapshot screenshot capture transcribe recall obtain pull wait scroll hover collect enumerate
		poll observe review audit listen trace dump select examine consult return provide tell access
		verify lint diff curl wget assess
		aggregate`
	// verbsCompute only work on what they are given.
	verbsCompute = `calculate compute convert parse translate estimate validate think reason sum round hash
		tokenize tokenise normalize normalise solve subtract multiply divide approximate interpolate
		proofread visualize visualise encode decode`
	verbsCreate = `create add new make generate insert save store draft schedule note remember memorize memorise
		record import log init initialize initialise clone duplicate copy fork prepare bookmark setup design
		sketch plan backup export scaffold compose ingest seed populate enqueue mint draw`
	verbsChange = `append update edit modify change set rename move replace patch put toggle mark flag star unstar label unlabel tag
		untag archive unarchive pin unpin reschedule adjust configure apply merge rebase commit complete
		finish close reopen resolve snooze mute unmute turn switch enable disable increase decrease raise lower resize
		crop rotate restore revert undo redo rollback sync refresh upsert extend play pause skip shuffle dim write
		click tap press fill type drag interact control reorder sort categorize categorise organize organise
		rewrite overwrite amend customize customise override alter reset upgrade downgrade migrate follow unfollow
		lock arm postpone format checkin correct fix refactor tweak favorite favourite dismiss unwatch prioritize prioritise
		cordon uncordon disconnect acknowledge transition ignore hide unhide
		attach annotate revise repair bump stage stash squash fulfill silence ack join focus maximize minimize`
	verbsDelete = `delete remove erase destroy drop purge clear cancel revoke unsubscribe discard trash wipe truncate
		uninstall kill terminate shutdown unlink rm del deactivate ban block kick leave prune evict expel
		suspend abort detach unregister rescind void annul empty unshare cleanup drain flush expire retire quarantine`
	verbsSend = `send reply forward post publish email mail message text sms tweet retweet repost notify broadcast announce
		submit dispatch deliver push dm call dial phone contact comment respond answer emit transmit relay alert remind
		report request react like upvote downvote vote rate endorse sign fax accept confirm reject decline rsvp
		upload whisper handoff escalate ask petition nudge greet ring page followup
		advertise syndicate warn`
	verbsPay = `pay transfer buy purchase order book reserve rent charge refund donate tip wire checkout withdraw deposit trade
		sell invest bid bet subscribe renew settle topup redeem hire stake swap exchange invoice bill borrow lend
		rebook remit repay prepay reimburse payout spend lease sponsor`
	verbsExecute = `execute exec run eval evaluate invoke launch trigger deploy start restart reboot stop install spawn build compile
		test provision scale ssh bash shell sh zsh terminal powershell repl python node kubectl docker sudo process
		activate simulate delegate resume automate rollout retry inject mount`
	verbsGrant = `grant share invite allow authorize authorise permit approve promote demote give enroll enrol elevate impersonate
		whitelist allowlist trust expose unlock disarm connect link login logout signin signup signout authenticate register
		assign reassign admit entitle empower unblock`
)

// nounsToo are verbs that tools are as often named after as things: a post, an order, a run.
const nounsToo = `book order post share run report email mail message text call charge trade transfer comment review record note
	log list display watch test rate bill tip star like block archive backup label tag draft
	filter invoice contact plan tweet vote request answer alert page phone sms dm fax
	process build trace dump access view check count head cat node python stake bid bet wire stop start
	schedule track monitor copy fork commit patch audit query select sort type press flag pin exchange deposit control
	snapshot screenshot capture push pull link design refund subscribe format play fill switch turn set drop
	import export poll scale tail sum hash round sign trust permit reason ring lock rent swap ping store
	bookmark shell terminal bash recall visit put upload download click leave load clear return diff broadcast
	rollout transition stage join focus draw mint seed mount
	change crop drag increase decrease tap launch override silence move`

// strongVerbs mean what they say wherever they stand, also at the end of a name or after
// an "and" in a description.
const strongVerbs = `send delete remove pay transfer purchase buy execute grant invite publish forward erase destroy purge revoke
	cancel wire email notify broadcast share withdraw deploy post reply wipe submit donate trigger upload install overwrite`

// tidyVerbs only put the user's own things in order, whatever the things are.
const tidyVerbs = `mark flag star unstar label unlabel tag untag archive unarchive pin unpin snooze mute unmute move sort
	categorize categorise organize organise bookmark favorite favourite reorder`

// doubtfulReads look at something or do something to it; makingVerbs make an answer or a thing.
const (
	doubtfulReads = `open watch monitor track capture collect pull load select return provide access review verify download`
	makingVerbs   = `generate make prepare compose design sketch plan export`
)

// Things that make another act of a verb: one is selected for good, watched for news of it,
// pulled over what is there, filed with somebody, or asks for money without moving any.
const (
	chosenThings  = `option dropdown checkbox radio plan seat element button tab context`
	watchedThings = `repository repo issue thread pullrequest mergerequest discussion card board ticket project channel topic list`
	pulledThings  = `git branch repository repo image change code commit model container docker`
	filedThings   = `issue ticket discussion pullrequest mergerequest`
	claimThings   = `invoice quote estimate`
)

// unclearActs do something whose effect depends on what is on the screen.
const unclearActs = `click tap press fill type drag interact`

// Words that join two acts, and words that end the thing acted on.
const (
	joinWords     = `and or then plus`
	relationWords = `to for by in from with of on at into onto via as per using about within between against under over through is are be`
	skippedWords  = `the a an all any my your our their his her its given new current latest recent existing single multiple multi each
		every specific specified one some other unread sent received own several bulk batch many next previous upcoming past
		first last available active async v1 v2 v3 v4 beta tool api sdk rest mcp server service client app function functions
		plugin default primary main out up down off back again this that these which now most more`
)

// whichWords say which of several things are meant, and are no acts in front of them.
const whichWords = `open pending overdue unpaid paid scheduled closed shared`

// Nouns by what doing something to them means.
const (
	nounsMoney = `payment transfer transaction refund order purchase booking reservation donation payout subscription charge withdrawal
		deposit trade bid bet checkout money fund loan invoice bill debit credit remittance wire tip hotel flight
		rental hold fare insurance investment stock crypto bitcoin cash mortgage installment giftcard voucher
		tuition rent wager bounty fee`
	nounsSpeech = `message email mail sms post tweet comment reply dm issue ticket announcement notification pullrequest mergerequest
		discussion thread newsletter campaign response answer feedback complaint application review survey letter
		fax chat conversation article blog advertisement ad listing petition testimonial story
		call phonecall voicemail poll text reaction vote question proposal offer webpage website site news broadcast
		gist paste`
	nounsAccess = `role permission access password passcode passphrase credential secret token apikey key webhook forwarding acl
		firewall mfa 2fa totp admin administrator owner ownership ssh certificate beneficiary payee delegate integration
		oauth invitation invite privilege scope session login authentication authorization door gate garage safe vault
		visibility collaborator sharing whitelist allowlist trust public delegation keypair pin sudo`
	nounsPeople = `user member participant attendee guest invitee reviewer watcher follower subscriber employee people person team
		assignee friend human customer client recipient group staff account organization organisation tenant
		contributor maintainer student patient`
	nounsSettings = `setting config configuration preference profile account security dns domain env environment variable rule
		autoreply vacation responder signature billing quota limit policy registry hook proxy info information
		personal address identity autoforward privacy automation recovery mode default`
	nounsInfra = `server instance cluster vm container lambda pipeline deployment database schema bucket volume network machine
		node pod stack resource infrastructure release production package dependency system
		vpc subnet balancer topic queue index table migration replica namespace kubectl docker helm kubernetes manifest`
	nounsRuns = `command script job cron crontab workflow program code shell process macro routine agent daemon action
		automation sql query statement binary test tests suite build playbook rpc`
	nounsOwn = `git draft note reminder label tag todo bookmark playlist cart basket wishlist alarm timer favorite favourite folder
		directory memory journal diary goal habit event meeting appointment calendar document doc file sheet spreadsheet row
		cell column slide presentation paragraph contact task subtask checklist list entry item memo snippet record
		notebook page section light lamp thermostat temperature brightness volume music song track video photo image picture
		album chart graph diagram plot watchlist recipe shopping plan itinerary trip branch commit repository repo
		project workspace board card sprint milestone worklog time field heading text content line string edit
		symbol template color theme font background wallpaper pdf report summary outline archive collection library
		dashboard view bookmarklet flashcard quiz deck stopwatch countdown tv speaker lights entity relation observation
		thought knowledge screen window tab zoom ui translation caption title name position style
		status priority due duedate deadline progress stage patch diff module class method worktree`
	// nounsTouchy make any change grave that mentions them.
	nounsTouchy = `dns firewall security production prod forward forwarding autoforward password access admin billing privacy
		permission credential secret root sudo`
	// nounsInfo at the end of a name make it a question: order history, share price.
	nounsInfo = `status history price detail info information stat statistic count balance lookup rating availability hours
		forecast weather quote analysis overview result metadata metric value number score directions
		definition rate list summary report search catalog menu timetable version`
	// nounsFigures are the part of nounsInfo that no verb takes as its object.
	nounsFigures = `history price detail stat statistic count balance lookup rating availability hours forecast weather
		analysis overview metadata metric value number score status info information`
	// nounsPlain are values that nobody else could have written words into.
	nounsPlain = `time date day clock timezone version uuid guid random balance iban now weekday year month calculator
		calculation math sum password pin otp bic checksum`
	// nounsSecret are what a person or a company would not want told.
	nounsSecret = `password passcode passphrase credential secret token apikey key privatekey keychain vault balance iban account card
		creditcard transaction statement payroll salary tax medical health diagnosis prescription patient passport ssn
		identity profile personal payslip invoice bank banking wallet cookie env otp mfa 2fa license loan mortgage
		insurance billing payment portfolio contact`
	// nounsOthers bring the words of others back when something is done to them.
	nounsOthers = `message email mail post tweet comment reply issue ticket pullrequest mergerequest discussion thread event meeting
		document doc file page webpage review conversation channel record row sheet invitation inbox attachment note task`
	nounsWeb = `url uri webpage website web browser site http https internet html link rss feed www`
)

// phrases are two words that are one.
const phrases = `check_in=checkin check_out=checkout log_in=login log_out=logout sign_in=signin sign_up=signup sign_out=signout
	look_up=lookup set_up=setup top_up=topup pay_out=payout roll_back=rollback shut_down=shutdown follow_up=followup
	go_to=goto pull_request=pullrequest merge_request=mergerequest web_page=webpage web_site=website api_key=apikey
	access_key=apikey secret_key=apikey private_key=apikey ssh_key=apikey encryption_key=apikey direct_message=dm e_mail=email
	file_name=filename user_name=username phone_call=phonecall credit_card=creditcard debit_card=creditcard gift_card=giftcard
	data_set=dataset work_flow=workflow pass_word=password white_list=whitelist allow_list=allowlist
	postal_code=zip zip_code=zip post_code=zip order_by=orderby sort_by=orderby group_by=orderby hand_off=handoff
	working_directory=cwd work_dir=cwd due_date=duedate clean_up=cleanup roll_out=rollout sub_issue=subissue take_screenshot=screenshot
	take_snapshot=snapshot
	sub_agent=agent source_code=code date_range=date time_range=date time_zone=timezone user_info=profile
	shared_link=sharing share_link=sharing public_link=sharing sharing_link=sharing invite_link=invite
	sql_query=sql user_information=profile user_profile=profile account_info=profile account_details=profile personal_info=profile
	personal_information=profile str_replace=replace post_office=postoffice status_code=statuscode share_price=price`

// wholeWords are not made of the two words they seem to be made of.
const wholeWords = `payload runbook checklist playlist postcard passport postoffice database dataset callback readme setting settings
	getaway showroom viewport listing listings holder booking bookmark sender sharing sendmail reader writer recorder
	printer texture context pretext mailbox mailing callee caller ordering testing runner listener postscript booklet
	payroll paycheck payslip payee payer copyright notebook notepad logbook filename filepath username hostname timestamp`

// leadWords open a description without saying anything yet.
const leadWords = `be this tool function that which to used use can will you lets let allows allow enables enable the agent user users a an
	helper api endpoint useful for when automatically simply safely quickly command method operation it is utility model
	assistant your in order help helps us client mcp server`

// Words that open a description and leave the act to what follows: "manages notes: add or
// delete them", "performs a search".
const (
	bundlingWords = `manage manages managing manager administer administers handle handles`
	doingWords    = `perform performs conduct conducts initiate initiates facilitate facilitates undertake undertakes`
)

// nominalForms are nouns that are acts, with their verbs.
const nominalForms = `search=search lookup=lookup query=query sql=query analysis=analyze calculation=calculate computation=compute
	comparison=compare conversion=convert translation=translate estimation=estimate validation=validate
	inspection=inspect research=search aggregation=aggregate
	deletion=delete removal=remove cancellation=cancel modification=modify update=update creation=create insertion=insert
	payment=pay purchase=buy transfer=transfer refund=refund booking=book reservation=reserve transaction=pay
	deployment=deploy execution=execute installation=install restart=restart playback=play upload=upload
	publication=publish submission=submit registration=register approval=approve`

// statementWords are what changes a database, in the words of its language.
const statementWords = `insert update delete drop alter truncate create merge write ddl dml`

// objectLeads are words that follow a verb and not a noun.
const objectLeads = `the a an it them this that these those all any every each everyone everybody their its his her your`
