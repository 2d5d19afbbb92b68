import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Has conversations with the HTTP client of the JDK, on which LangChain4j and others stand. Each line of input is a
 * job, each line of output what a program would get; see ../judge_test.go for their fields. The client is used as it
 * comes: to an address without TLS it offers to go on in HTTP/2 (Upgrade: h2c) with every request.
 */
public class Judge {
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor();
    static final int MOST_ROUNDS = 8; // a conversation that goes on for longer is a fault

    public static void main(String[] args) throws Exception {
        ExecutorService running = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            Map<String, Object> job = Json.object(Json.parse(line));
            running.submit(() -> answer(Json.write(run(job))));
        }
        running.shutdown();
        running.awaitTermination(5, TimeUnit.MINUTES);
        System.exit(0);
    }

    static synchronized void answer(String line) {
        System.out.println(Json.ascii(line)); // whatever the console would make of anything else
        System.out.flush();
    }

    static Map<String, Object> run(Map<String, Object> job) {
        long began = System.nanoTime();
        List<Object> rounds = new ArrayList<>();
        Deadline deadline = new Deadline(Json.number(job.get("deadlineMs")));
        Object fault = null;
        try {
            converse(job, deadline, rounds);
        } catch (Throwable err) { // whatever is thrown is what a program gets
            fault = describe(err);
        }
        return Json.of("id", job.get("id"), "rounds", rounds, "error", fault, "expired", deadline.passed(),
            "ms", new Json.Number(Long.toString((System.nanoTime() - began) / 1_000_000)));
    }

    static void converse(Map<String, Object> job, Deadline deadline, List<Object> rounds) throws Exception {
        Talk talk = switch (Json.string(job.get("kind"))) {
            case "chat" -> new Chat();
            case "responses" -> new Responses();
            case "messages" -> new Messages();
            default -> new Gemini();
        };
        talk.job = job;
        talk.deadline = deadline;
        for (Object prompt : Json.list(job.get("prompts"))) {
            talk.say(Json.string(prompt));
            do {
                if (rounds.size() >= MOST_ROUNDS) throw new IllegalStateException("the conversation does not end");
                talk.round = new Round();
                rounds.add(talk.round.fields);
                try {
                    if (talk.streams()) talk.streamed();
                    else talk.whole();
                } finally {
                    talk.round.keep();
                }
                talk.round.fields.put("whole", true);
                if (!talk.round.calls.isEmpty()) talk.results(talk.round.calls);
            } while (!talk.round.calls.isEmpty());
        }
    }

    static Object describe(Throwable err) {
        if (err instanceof ExecutionException && err.getCause() != null) err = err.getCause();
        Map<String, Object> out = Json.of("kind", err.getClass().getSimpleName(), "message", clip(String.valueOf(err.getMessage())));
        if (err instanceof Refused r) {
            out.put("status", new Json.Number(Integer.toString(r.status)));
            out.put("retryAfter", r.retryAfter);
            out.put("limit", r.limit);
        }
        return out;
    }

    static String clip(String s) {
        return s.length() > 400 ? s.substring(0, 400) : s;
    }

    /** One answer as a program gets it. */
    static class Round {
        final Map<String, Object> fields = Json.of("text", "", "final", "", "stop", "", "calls", new ArrayList<>(), "whole", false);
        final StringBuilder text = new StringBuilder();
        final List<Map<String, Object>> calls = new ArrayList<>();
        String whole; // where the format sends the text again at the end
        String stop = "";

        void keep() {
            fields.put("text", text.toString());
            fields.put("final", whole != null ? whole : text.toString());
            fields.put("stop", stop);
            fields.put("calls", calls);
        }

        void call(Object id, Object name, String args) {
            calls.add(Json.of("id", id == null ? "" : id, "name", name == null ? "" : name, "args", args));
        }
    }

    /** An answer with another status than 200. */
    static class Refused extends Exception {
        final int status;
        final String retryAfter;
        final String limit;

        Refused(HttpResponse<?> response, String body) {
            super(body);
            status = response.statusCode();
            retryAfter = response.headers().firstValue("retry-after").orElse("");
            limit = response.headers().firstValue("x-ratelimit-limit-requests").orElse("");
        }
    }

    /** The deadline of a conversation. When it passes, what is under way is given up. */
    static class Deadline {
        private boolean passed;
        private Runnable underWay = () -> { };

        Deadline(long ms) {
            CLOCK.schedule(() -> {
                Runnable end;
                synchronized (this) {
                    passed = true;
                    end = underWay;
                }
                end.run();
            }, ms, TimeUnit.MILLISECONDS);
        }

        synchronized boolean passed() {
            return passed;
        }

        void watch(Runnable end) {
            boolean late;
            synchronized (this) {
                underWay = end;
                late = passed;
            }
            if (late) end.run();
        }
    }

    /** One conversation in one format. */
    abstract static class Talk {
        Map<String, Object> job;
        Deadline deadline;
        Round round;
        final List<Object> list = new ArrayList<>();

        abstract void say(String text);
        abstract void results(List<Map<String, Object>> calls);
        abstract Map<String, Object> question();
        abstract String path();
        abstract void whole() throws Exception;
        abstract void streamed() throws Exception;

        boolean streams() {
            return Boolean.TRUE.equals(job.get("stream"));
        }

        List<Object> tools(java.util.function.Function<Object, Object> form) {
            List<Object> out = new ArrayList<>();
            for (Object name : Json.list(job.get("tools"))) out.add(form.apply(name));
            return out;
        }

        static Map<String, Object> schema() {
            return Json.of("type", "object", "properties", Json.of("v", Json.of("type", "string")));
        }

        InputStream post() throws Exception {
            String key = Json.string(job.get("key"));
            Map<String, Object> question = question();
            if (streams() && !(this instanceof Gemini)) question.put("stream", true);
            HttpRequest request = HttpRequest.newBuilder(URI.create(Json.string(job.get("base")) + path()))
                .header("Content-Type", "application/json").header("Authorization", "Bearer " + key)
                .header("x-api-key", key).header("x-goog-api-key", key).header("anthropic-version", "2023-06-01")
                .POST(HttpRequest.BodyPublishers.ofString(Json.write(question))).build();
            CompletableFuture<HttpResponse<InputStream>> asked = CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream());
            deadline.watch(() -> asked.cancel(true));
            HttpResponse<InputStream> response = asked.get();
            deadline.watch(() -> close(response.body()));
            if (response.statusCode() == 200) return response.body();
            throw new Refused(response, read(response.body()));
        }

        static void close(InputStream in) {
            try {
                in.close();
            } catch (IOException err) {
                // it is given up anyway
            }
        }

        String read(InputStream in) throws IOException {
            try (in) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                if (deadline.passed()) throw new IOException("the deadline has passed");
                return text;
            }
        }

        Map<String, Object> document() throws Exception {
            Map<String, Object> out = Json.object(Json.parse(read(post())));
            if (out.get("error") != null) throw new IOException(Json.write(out.get("error")));
            return out;
        }

        interface Taker {
            void take(Map<String, Object> event) throws Exception;
        }

        /** Reads a stream to its end; an event without the empty line after it counts too, as many readers have it. */
        void events(Taker taker) throws Exception {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(post(), StandardCharsets.UTF_8))) {
                StringBuilder data = new StringBuilder();
                for (String line; (line = lines.readLine()) != null; ) {
                    if (line.startsWith("\ufeff")) line = line.substring(1);
                    if (line.startsWith("data:")) {
                        if (data.length() > 0) data.append('\n');
                        data.append(line.startsWith("data: ") ? line.substring(6) : line.substring(5));
                    } else if (line.isEmpty()) {
                        event(data, taker);
                    }
                }
                if (deadline.passed()) throw new IOException("the deadline has passed");
                event(data, taker);
            }
        }

        private void event(StringBuilder data, Taker taker) throws Exception {
            String text = data.toString();
            data.setLength(0);
            if (text.isEmpty() || text.equals("[DONE]")) return;
            Map<String, Object> event = Json.object(Json.parse(text));
            if (event.get("error") != null) throw new IOException(Json.write(event.get("error")));
            taker.take(event);
        }

        void ended() throws IOException {
            if (round.stop.isEmpty()) throw new IOException("the answer ended without a reason");
        }
    }

    /** OpenAI Chat Completions. */
    static class Chat extends Talk {
        void say(String text) {
            list.add(Json.of("role", "user", "content", text));
        }

        void results(List<Map<String, Object>> calls) {
            for (Map<String, Object> c : calls) list.add(Json.of("role", "tool", "tool_call_id", c.get("id"), "content", "done"));
        }

        String path() {
            return "/v1/chat/completions";
        }

        Map<String, Object> question() {
            return Json.of("model", "gpt-judge", "messages", list, "tools", tools(name ->
                Json.of("type", "function", "function", Json.of("name", name, "description", "does " + name, "parameters", schema()))));
        }

        void whole() throws Exception {
            Map<String, Object> choice = Json.object(Json.list(document().get("choices")).get(0));
            Map<String, Object> message = Json.object(choice.get("message"));
            round.text.append(Json.string(message.get("content")));
            round.stop = Json.string(choice.get("finish_reason"));
            for (Object c : Json.list(message.get("tool_calls"))) {
                Map<String, Object> function = Json.object(Json.object(c).get("function"));
                round.call(Json.object(c).get("id"), function.get("name"), Json.string(function.get("arguments")));
            }
            said();
        }

        void streamed() throws Exception {
            TreeMap<Long, Map<String, Object>> begun = new TreeMap<>();
            try {
                events(event -> {
                    for (Object each : Json.list(event.get("choices"))) {
                        Map<String, Object> choice = Json.object(each), delta = Json.object(choice.get("delta"));
                        round.text.append(Json.string(delta.get("content")));
                        round.stop += Json.string(choice.get("finish_reason"));
                        for (Object c : Json.list(delta.get("tool_calls"))) piece(begun, Json.object(c));
                    }
                });
            } finally {
                round.calls.addAll(begun.values());
            }
            ended();
            said();
        }

        private static void piece(TreeMap<Long, Map<String, Object>> begun, Map<String, Object> piece) {
            Map<String, Object> c = begun.computeIfAbsent(Json.number(piece.get("index")), i -> Json.of("id", "", "name", "", "args", ""));
            Map<String, Object> function = Json.object(piece.get("function"));
            if (Json.string(c.get("id")).isEmpty()) c.put("id", Json.string(piece.get("id")));
            c.put("name", Json.string(c.get("name")) + Json.string(function.get("name")));
            c.put("args", Json.string(c.get("args")) + Json.string(function.get("arguments")));
        }

        private void said() {
            Map<String, Object> message = Json.of("role", "assistant", "content", round.text.toString());
            List<Object> calls = new ArrayList<>();
            for (Map<String, Object> c : round.calls) {
                calls.add(Json.of("id", c.get("id"), "type", "function", "function", Json.of("name", c.get("name"), "arguments", c.get("args"))));
            }
            if (!calls.isEmpty()) message.put("tool_calls", calls);
            list.add(message);
        }
    }

    /** OpenAI Responses, with the whole conversation in every request. */
    static class Responses extends Talk {
        void say(String text) {
            list.add(Json.of("role", "user", "content", text));
        }

        void results(List<Map<String, Object>> calls) {
            for (Map<String, Object> c : calls) list.add(Json.of("type", "function_call_output", "call_id", c.get("id"), "output", "done"));
        }

        String path() {
            return "/v1/responses";
        }

        Map<String, Object> question() {
            return Json.of("model", "gpt-judge", "input", list, "store", false, "tools", tools(name ->
                Json.of("type", "function", "name", name, "description", "does " + name, "strict", false, "parameters", schema())));
        }

        void whole() throws Exception {
            take(document());
            round.text.append(round.whole);
        }

        void streamed() throws Exception {
            List<Map<String, Object>> ends = new ArrayList<>();
            events(event -> {
                String type = Json.string(event.get("type"));
                Map<String, Object> item = Json.object(event.get("item"));
                switch (type) {
                    case "response.output_text.delta" -> round.text.append(Json.string(event.get("delta")));
                    case "response.output_item.done" -> called(item);
                    case "response.completed", "response.incomplete" -> ends.add(Json.object(event.get("response")));
                    case "response.failed", "error" -> throw new IOException(type);
                    default -> { }
                }
            });
            if (ends.isEmpty()) throw new IOException("the stream ended without response.completed");
            List<Map<String, Object>> handed = new ArrayList<>(round.calls);
            round.calls.clear();
            take(ends.get(0));
            if (!handed.equals(round.calls)) throw new IOException("the calls of the events are not those of the end");
        }

        private void called(Map<String, Object> item) {
            if ("function_call".equals(item.get("type"))) round.call(item.get("call_id"), item.get("name"), Json.string(item.get("arguments")));
        }

        private void take(Map<String, Object> answer) {
            StringBuilder text = new StringBuilder();
            for (Object each : Json.list(answer.get("output"))) {
                Map<String, Object> item = Json.object(each);
                called(item);
                if ("message".equals(item.get("type"))) {
                    for (Object part : Json.list(item.get("content"))) text.append(Json.string(Json.object(part).get("text")));
                }
                list.add(item);
            }
            round.whole = text.toString();
            round.stop = Json.string(answer.get("status"));
        }
    }

    /** Anthropic Messages. */
    static class Messages extends Talk {
        void say(String text) {
            list.add(Json.of("role", "user", "content", text));
        }

        void results(List<Map<String, Object>> calls) {
            List<Object> blocks = new ArrayList<>();
            for (Map<String, Object> c : calls) blocks.add(Json.of("type", "tool_result", "tool_use_id", c.get("id"), "content", "done"));
            list.add(Json.of("role", "user", "content", blocks));
        }

        String path() {
            return "/v1/messages";
        }

        Map<String, Object> question() {
            return Json.of("model", "claude-judge", "max_tokens", new Json.Number("1024"), "messages", list, "tools", tools(name ->
                Json.of("name", name, "description", "does " + name, "input_schema", schema())));
        }

        void whole() throws Exception {
            Map<String, Object> answer = document();
            for (Object each : Json.list(answer.get("content"))) {
                Map<String, Object> block = Json.object(each);
                if ("text".equals(block.get("type"))) round.text.append(Json.string(block.get("text")));
                if ("tool_use".equals(block.get("type"))) round.call(block.get("id"), block.get("name"), Json.write(block.get("input")));
            }
            round.stop = Json.string(answer.get("stop_reason"));
            list.add(Json.of("role", "assistant", "content", answer.get("content")));
        }

        void streamed() throws Exception {
            TreeMap<Long, Map<String, Object>> blocks = new TreeMap<>();
            TreeMap<Long, StringBuilder> inputs = new TreeMap<>();
            try {
                events(event -> {
                    long index = Json.number(event.get("index"));
                    switch (Json.string(event.get("type"))) {
                        case "content_block_start" -> {
                            blocks.put(index, Json.object(event.get("content_block")));
                            inputs.put(index, new StringBuilder());
                        }
                        case "content_block_delta" -> delta(blocks.get(index), inputs.get(index), Json.object(event.get("delta")));
                        case "message_delta" -> round.stop += Json.string(Json.object(event.get("delta")).get("stop_reason"));
                        default -> { }
                    }
                });
            } finally {
                blocks.forEach((index, block) -> {
                    if ("tool_use".equals(block.get("type"))) round.call(block.get("id"), block.get("name"), inputs.get(index).toString());
                });
            }
            ended();
            blocks.forEach((index, block) -> {
                if ("tool_use".equals(block.get("type"))) block.put("input", Json.parse(inputs.get(index).toString()));
            });
            list.add(Json.of("role", "assistant", "content", new ArrayList<Object>(blocks.values())));
        }

        private void delta(Map<String, Object> block, StringBuilder input, Map<String, Object> delta) {
            for (String member : List.of("text", "thinking", "signature")) {
                if (delta.get(member) == null) continue;
                block.put(member, Json.string(block.get(member)) + Json.string(delta.get(member)));
            }
            round.text.append(Json.string(delta.get("text")));
            input.append(Json.string(delta.get("partial_json")));
        }
    }

    /** Gemini's generateContent. */
    static class Gemini extends Talk {
        void say(String text) {
            list.add(Json.of("role", "user", "parts", List.of(Json.of("text", text))));
        }

        void results(List<Map<String, Object>> calls) {
            List<Object> parts = new ArrayList<>();
            for (Map<String, Object> c : calls) {
                parts.add(Json.of("functionResponse", Json.of("name", c.get("name"), "response", Json.of("output", "done"))));
            }
            list.add(Json.of("role", "user", "parts", parts));
        }

        String path() {
            return "/v1beta/models/gemini-judge:" + (streams() ? "streamGenerateContent?alt=sse" : "generateContent");
        }

        Map<String, Object> question() {
            return Json.of("contents", list, "tools", List.of(Json.of("functionDeclarations", tools(name ->
                Json.of("name", name, "description", "does " + name, "parametersJsonSchema", schema())))));
        }

        void whole() throws Exception {
            List<Object> parts = new ArrayList<>();
            take(document(), parts);
            list.add(Json.of("role", "model", "parts", parts));
        }

        void streamed() throws Exception {
            List<Object> parts = new ArrayList<>();
            events(event -> take(event, parts));
            ended();
            list.add(Json.of("role", "model", "parts", parts));
        }

        private void take(Map<String, Object> answer, List<Object> parts) {
            for (Object each : Json.list(answer.get("candidates"))) {
                Map<String, Object> candidate = Json.object(each);
                if (candidate.get("finishReason") != null) round.stop = Json.string(candidate.get("finishReason"));
                for (Object one : Json.list(Json.object(candidate.get("content")).get("parts"))) {
                    Map<String, Object> part = Json.object(one), call = Json.object(part.get("functionCall"));
                    parts.add(part);
                    if (!Boolean.TRUE.equals(part.get("thought"))) round.text.append(Json.string(part.get("text")));
                    if (!call.isEmpty()) round.call(call.get("id"), call.get("name"), Json.write(call.get("args")));
                }
            }
        }
    }

    /** As much of JSON as is needed, because the JDK has none. What is missing reads as empty. */
    static class Json {
        record Number(String text) { }

        private final String in;
        private int at;

        private Json(String in) {
            this.in = in;
        }

        static Map<String, Object> of(Object... pairs) {
            Map<String, Object> out = new LinkedHashMap<>();
            for (int i = 0; i < pairs.length; i += 2) out.put((String) pairs[i], pairs[i + 1]);
            return out;
        }

        @SuppressWarnings("unchecked")
        static Map<String, Object> object(Object v) {
            return v instanceof Map ? (Map<String, Object>) v : new LinkedHashMap<>();
        }

        @SuppressWarnings("unchecked")
        static List<Object> list(Object v) {
            return v instanceof List ? (List<Object>) v : List.of();
        }

        static String string(Object v) {
            return v instanceof String ? (String) v : "";
        }

        static long number(Object v) {
            return v instanceof Number n ? Long.parseLong(n.text()) : 0;
        }

        static Object parse(String s) {
            Json json = new Json(s);
            Object out = json.value();
            if (json.next() != 0) throw json.wrong();
            return out;
        }

        private IllegalArgumentException wrong() {
            return new IllegalArgumentException("no JSON at " + at);
        }

        private char next() { // the next character that is no space, 0 at the end
            while (at < in.length() && " \t\r\n".indexOf(in.charAt(at)) >= 0) at++;
            return at < in.length() ? in.charAt(at) : 0;
        }

        private boolean skip(char c) {
            if (next() != c) return false;
            at++;
            return true;
        }

        private void must(char c) {
            if (!skip(c)) throw wrong();
        }

        private Object value() {
            switch (next()) {
                case '{': return members();
                case '[': return elements();
                case '"': return text();
                default:
            }
            int from = at;
            while (at < in.length() && ",]} \t\r\n".indexOf(in.charAt(at)) < 0) at++;
            String word = in.substring(from, at);
            switch (word) {
                case "true": return true;
                case "false": return false;
                case "null": return null;
                default:
            }
            if (!word.matches("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?")) throw wrong();
            return new Number(word);
        }

        private Object members() {
            Map<String, Object> out = new LinkedHashMap<>();
            must('{');
            if (skip('}')) return out;
            do {
                next();
                String name = text();
                must(':');
                out.put(name, value()); // of two with one name the last, as most readers have it
            } while (skip(','));
            must('}');
            return out;
        }

        private Object elements() {
            List<Object> out = new ArrayList<>();
            must('[');
            if (skip(']')) return out;
            do out.add(value()); while (skip(','));
            must(']');
            return out;
        }

        private String text() {
            must('"');
            StringBuilder out = new StringBuilder();
            for (; at < in.length(); at++) {
                char c = in.charAt(at);
                if (c == '"') {
                    at++;
                    return out.toString();
                }
                if (c == '\\' && ++at < in.length()) {
                    int escape = "\"\\/bfnrt".indexOf(in.charAt(at));
                    if (escape >= 0) {
                        c = "\"\\/\b\f\n\r\t".charAt(escape);
                    } else if (in.charAt(at) == 'u' && at + 4 < in.length()) {
                        c = (char) Integer.parseInt(in.substring(at + 1, at + 5), 16);
                        at += 4;
                    } else {
                        throw wrong();
                    }
                }
                out.append(c);
            }
            throw wrong();
        }

        static String write(Object v) {
            StringBuilder out = new StringBuilder();
            write(out, v);
            return out.toString();
        }

        private static void write(StringBuilder out, Object v) {
            if (v instanceof Map<?, ?> m) {
                String sep = "{";
                for (Map.Entry<?, ?> e : m.entrySet()) {
                    out.append(sep);
                    write(out, e.getKey());
                    out.append(':');
                    write(out, e.getValue());
                    sep = ",";
                }
                out.append(m.isEmpty() ? "{}" : "}");
            } else if (v instanceof List<?> l) {
                String sep = "[";
                for (Object e : l) {
                    out.append(sep);
                    write(out, e);
                    sep = ",";
                }
                out.append(l.isEmpty() ? "[]" : "]");
            } else if (v instanceof String s) {
                quote(out, s);
            } else if (v instanceof Number n) {
                out.append(n.text());
            } else {
                out.append(v);
            }
        }

        static String ascii(String document) {
            StringBuilder out = new StringBuilder();
            for (char c : document.toCharArray()) {
                if (c > '~') escape(out, c);
                else out.append(c);
            }
            return out.toString();
        }

        private static void escape(StringBuilder out, char c) {
            out.append(String.format("\\u%04x", (int) c));
        }

        private static void quote(StringBuilder out, String s) {
            out.append('"');
            s.codePoints().forEach(c -> {
                if (c == '"' || c == '\\') out.append('\\').appendCodePoint(c);
                else if (c < ' ' || c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) escape(out, (char) c); // half a character
                else out.appendCodePoint(c);
            });
            out.append('"');
        }
    }
}
