// Reads lines of start (seconds since 1970), zone, end, expression, parted by tabs; answers each with one line of fires
// as the cron of Kubernetes (robfig/cron, version 3) computes them.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	for in.Scan() {
		asked := strings.SplitN(in.Text(), "\t", 4)
		start, _ := strconv.ParseInt(asked[0], 10, 64)
		end, _ := strconv.ParseInt(asked[2], 10, 64)
		zone, err := time.LoadLocation(asked[1])
		schedule, refused := parser.Parse(asked[3])
		if err != nil || refused != nil {
			fmt.Fprintln(out, "refused:", err, refused)
			continue
		}
		for at := schedule.Next(time.Unix(start, 0).In(zone)); !at.IsZero() && at.Unix() < end; at = schedule.Next(at) {
			fmt.Fprint(out, at.Unix(), " ")
		}
		fmt.Fprintln(out)
	}
}
