import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Your Kafka producer under faultlab. Make connect, send and close do what your service does. */
public final class MyClient {
    private KafkaProducer<String, String> producer;

    /** Settings have the producer's own names; it dials behind this. */
    void connect(String bootstrap, Properties settings) {
        settings.setProperty("bootstrap.servers", bootstrap);
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    /**
     * Called from several threads at once. Returns when your caller would have an answer: if your service calls
     * get(timeout), do so here, too.
     */
    RecordMetadata send(String topic, Integer partition, String key, String value) throws Exception {
        return producer.send(new ProducerRecord<>(topic, partition, key, value)).get();
    }

    void close() {
        producer.close();
    }

    public static void main(String[] arguments) throws IOException {
        new Subject(new MyClient()).serve();
    }
}

/**
 * Speaks faultlab's subject protocol (docs/SUBJECT_PROTOCOL.md of faultlab) for a producer. Nothing here changes.
 *
 * <p>The lab asks for operations on stdin, and is answered on stdout; stderr is kept with the run. Times are
 * System.nanoTime, on Linux the CLOCK_MONOTONIC that the lab reads, too.
 */
final class Subject {
    private static final Gson JSON = new Gson();
    private final PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8);
    private final JsonObject launch = JSON.fromJson(System.getenv("FAULTLAB_SUBJECT"), JsonObject.class);
    private final MyClient client;

    Subject(MyClient client) {
        this.client = client;
        System.setOut(System.err); // what a library prints is no answer
    }

    void serve() throws IOException {
        JsonObject ready = event("ready");
        ready.addProperty("clock_ns", System.nanoTime());
        say(ready);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            JsonObject command = JSON.fromJson(line, JsonObject.class);
            new Thread(() -> carryOut(command)).start();
        }
        Runtime.getRuntime().halt(0);
    }

    /** The times are taken just before the call and just after it. */
    private void carryOut(JsonObject command) {
        String id = command.get("id").getAsString();
        say(stamped("started", id));
        JsonObject answer;
        try {
            RecordMetadata written = operate(command);
            answer = stamped("ok", id);
            if (written != null) {
                answer.addProperty("partition", written.partition());
                answer.addProperty("offset", written.offset());
            }
        } catch (Throwable thrown) { // whatever the client throws is what is measured
            answer = stamped("error", id);
            Throwable error = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
            answer.addProperty("error", error.getMessage() == null ? error.toString() : error.getMessage());
            answer.addProperty("class", error.getClass().getSimpleName());
        }
        say(answer);
        if (command.get("op").getAsString().equals("close")) {
            Runtime.getRuntime().halt(0);
        }
    }

    private RecordMetadata operate(JsonObject command) throws Exception {
        String operation = command.get("op").getAsString();
        switch (operation) {
            case "connect":
                client.connect(String.join(",", JSON.fromJson(launch.get("bootstrap"), String[].class)), settings());
                return null;
            case "send":
                return client.send(
                    command.get("topic").getAsString(),
                    command.has("partition") ? command.get("partition").getAsInt() : null,
                    command.has("key") ? command.get("key").getAsString() : null,
                    command.get("value").getAsString());
            case "close":
                client.close();
                return null;
            default:
                throw new UnsupportedOperationException("there is no operation " + operation);
        }
    }

    /** As texts, which the producer parses; the scenario's durations come in seconds. */
    private Properties settings() {
        Properties settings = new Properties();
        launch.getAsJsonObject("settings").asMap().forEach((name, value) -> settings.setProperty(
            name, name.endsWith(".ms") && !value.getAsString().matches("-?\\d+") ? String.valueOf(Math.round(value.getAsDouble() * 1000)) : value.getAsString()));
        return settings;
    }

    private static JsonObject stamped(String name, String id) {
        long at = System.nanoTime();
        JsonObject event = event(name);
        event.addProperty("id", id);
        event.addProperty("at_ns", at);
        return event;
    }

    private static JsonObject event(String name) {
        JsonObject event = new JsonObject();
        event.addProperty("ev", name);
        return event;
    }

    private synchronized void say(JsonObject event) {
        answers.println(JSON.toJson(event));
        answers.flush();
    }
}
