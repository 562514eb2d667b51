// A pull worker in Java 17, with nothing but the JDK. The protocol: docs/api/pull-protocol.md.
//
//   HORAE_URL=http://localhost:8700 HORAE_KEY=horae_… HORAE_QUEUE=mail java Worker.java

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

public class Worker {
    static final String URL = System.getenv("HORAE_URL"), KEY = System.getenv("HORAE_KEY"), QUEUE = System.getenv("HORAE_QUEUE");
    static final HttpClient client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1) // it would ask for an upgrade, which the API does not offer
        .connectTimeout(Duration.ofSeconds(5)).build();
    static final int MANY = 10;
    static volatile boolean ending;

    // Your business. Record the idempotency key with the effect, in one transaction: a task may come twice.
    static void handle(Map<String, Object> work) throws Exception {
        if (work.get("payload") instanceof Map<?, ?> payload && Boolean.TRUE.equals(payload.get("fail")))
            throw new Exception("the payload says so");
        System.out.println("handled " + work.get("idempotency_key") + " " + Json.write(work.get("payload")));
    }

    public static void main(String[] args) throws Exception {
        var hands = Executors.newFixedThreadPool(MANY);
        var pulse = Executors.newSingleThreadScheduledExecutor();
        var main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ending = true;
            try { main.join(30_000); } catch (InterruptedException e) { /* then we end now */ }
        }));
        var name = "java-" + ProcessHandle.current().pid();
        while (!ending) {
            var asked = Map.<String, Object>of("queue", QUEUE, "worker_id", name, "limit", MANY, "wait", 5);
            var running = new ArrayList<Future<?>>();
            for (var one : items(post("poll", asked)))
                running.add(hands.submit(() -> work(one, pulse)));
            for (var future : running) future.get();
        }
        hands.shutdown();
        pulse.shutdownNow();
    }

    static void work(Map<String, Object> work, java.util.concurrent.ScheduledExecutorService pulse) {
        var worker = Thread.currentThread();
        var third = Math.max(100, Duration.between(Instant.now(), Instant.parse((String) work.get("deadline"))).toMillis() / 3);
        ScheduledFuture<?> beats = pulse.scheduleAtFixedRate(() -> {
            try {
                var heard = items(post("heartbeat", report(work)));
                if (!heard.isEmpty() && Boolean.FALSE.equals(heard.get(0).get("yours"))) worker.interrupt();
            } catch (Exception e) { /* the next beat may get through */ }
        }, third, third, TimeUnit.MILLISECONDS);
        try {
            handle(work);
            post("finish", report(work));
        } catch (InterruptedException e) {
            // no longer ours: say nothing
        } catch (Exception e) {
            try { post("fail", report(work, "message", String.valueOf(e.getMessage()))); } catch (Exception late) { System.err.println(late); }
        } finally {
            beats.cancel(false);
        }
    }

    static Map<String, Object> report(Map<String, Object> work, Object... more) {
        var item = new LinkedHashMap<String, Object>();
        for (var name : List.of("instance_id", "attempt", "token")) item.put(name, work.get(name));
        for (int i = 0; i < more.length; i += 2) item.put((String) more[i], more[i + 1]);
        return Map.of("items", List.of(item));
    }

    // Sends a message and reads its answer; what failed for a moment is said again.
    static Map<String, Object> post(String verb, Map<String, Object> message) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(URL + "/api/v1/workers/" + verb))
            .header("Authorization", "Bearer " + KEY).header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(90)) // longer than the longest poll
            .POST(HttpRequest.BodyPublishers.ofString(Json.write(message))).build();
        for (long pause = 1000; ; pause = Math.min(2 * pause, 30_000)) {
            try {
                var answer = client.send(request, BodyHandlers.ofString());
                if (answer.statusCode() == 200) return Json.read(answer.body());
                if (answer.statusCode() < 500 && answer.statusCode() != 429) // asking again would not help
                    throw new IllegalStateException(verb + ": " + answer.statusCode() + " " + answer.body());
            } catch (java.io.IOException e) {
                if (ending && verb.equals("poll")) return Map.of("items", List.of());
            }
            Thread.sleep(pause);
        }
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> items(Map<String, Object> answer) {
        return (List<Map<String, Object>>) answer.get("items");
    }

    // The JDK reads no JSON. This is enough for the protocol; use your library of choice.
    static class Json {
        final String text;
        int at;

        Json(String text) { this.text = text; }

        @SuppressWarnings("unchecked")
        static Map<String, Object> read(String text) { return (Map<String, Object>) new Json(text).value(); }

        static String write(Object value) {
            if (value instanceof Map<?, ?> map)
                return "{" + String.join(",", map.entrySet().stream().map(e -> write(e.getKey()) + ":" + write(e.getValue())).toList()) + "}";
            if (value instanceof List<?> list) return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
            if (!(value instanceof String text)) return String.valueOf(value);
            var quoted = new StringBuilder("\"");
            for (char c : text.toCharArray())
                quoted.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
            return quoted.append('"').toString();
        }

        char next() {
            while (Character.isWhitespace(text.charAt(at))) at++;
            return text.charAt(at);
        }

        Object value() {
            switch (next()) {
                case '{': {
                    var map = new LinkedHashMap<String, Object>();
                    for (at++; next() != '}'; ) {
                        var key = string();
                        next(); // the colon
                        at++;
                        map.put(key, value());
                        if (next() == ',') { at++; next(); }
                    }
                    at++;
                    return map;
                }
                case '[': {
                    var list = new ArrayList<Object>();
                    for (at++; next() != ']'; ) {
                        list.add(value());
                        if (next() == ',') at++;
                    }
                    at++;
                    return list;
                }
                case '"': return string();
                default: {
                    int from = at;
                    while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) at++;
                    var word = text.substring(from, at);
                    return switch (word) {
                        case "true" -> true;
                        case "false" -> false;
                        case "null" -> null;
                        default -> word.matches("-?\\d+") ? (Object) Long.valueOf(word) : (Object) Double.valueOf(word);
                    };
                }
            }
        }

        String string() {
            var found = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                char c = text.charAt(at);
                if (c != '\\') { found.append(c); continue; }
                c = text.charAt(++at);
                if (c == 'u') { found.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16)); at += 4; }
                else found.append("nrtbf".indexOf(c) < 0 ? c : "\n\r\t\b\f".charAt("nrtbf".indexOf(c)));
            }
            at++;
            return found.toString();
        }
    }
}
