import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.Date;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.quartz.CronExpression;

/**
 * Reads lines of start (seconds since 1970), zone, how many, expression, parted by tabs; answers each with one line:
 * the fires, "refused: why", or "hung" when Quartz does not come back within a second.
 */
public final class Fires {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.append(inTime(line.split("\t", 4))).append('\n');
        }
        System.out.print(out);
        System.out.flush();
        Runtime.getRuntime().halt(0); // threads that hang would keep us here
    }

    private static String inTime(String[] asked) throws InterruptedException, ExecutionException {
        FutureTask<String> task = new FutureTask<>(
            () -> answer(Long.parseLong(asked[0]), asked[1], Integer.parseInt(asked[2]), asked[3]));
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(1, TimeUnit.SECONDS);
        } catch (TimeoutException hung) {
            thread.setPriority(Thread.MIN_PRIORITY);
            return "hung";
        }
    }

    private static String answer(long start, String zone, int many, String text) {
        try {
            CronExpression cron = new CronExpression(text);
            cron.setTimeZone(TimeZone.getTimeZone(zone));
            StringBuilder fires = new StringBuilder();
            Date at = new Date(start * 1000);
            for (int k = 0; k < many; k++) {
                at = cron.getNextValidTimeAfter(at);
                if (at == null) {
                    break;
                }
                fires.append(k == 0 ? "" : " ").append(at.getTime() / 1000);
            }
            return fires.toString();
        } catch (ParseException | RuntimeException refused) {
            return "refused: " + refused.getMessage();
        }
    }
}
