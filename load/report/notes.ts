/** Warnings and notes of a report. */
import {count, percent} from "./figureText.ts";
import {BUSY, LATE_MS, type Measured, TOO_STARVED} from "./measurement.ts";

/** A thread that lacks a core for a larger fraction of the time reads some answers late. */
const STARVED = 0.1;
const MANY = 0.01;

export function writeWarnings({generator, loop, settings, stopped, seconds}: Measured): string[] {
  const warnings: string[] = [];
  const busiest = Math.max(0, ...generator.utilization);
  const starved = Math.max(0, ...generator.starved);
  if (busiest > BUSY)
    warnings.push(
      `THE GENERATOR WAS THE LIMIT: one of its threads was busy ${percent(busiest)} of the time. ` +
        "The server may do more. Use more --threads, a larger --batch or another machine.",
    );
  if (starved > STARVED)
    warnings.push(
      `${loop === "closed" && starved > TOO_STARVED ? "THE GENERATOR WAS THE LIMIT: one" : "One"} of its threads ` +
        `had work but no core for ${percent(starved)} of the time: the machine has too few cores, ` +
        "and the latencies include this wait. Use fewer --threads or another machine.",
    );
  const {sendLag} = generator;
  if (sendLag !== undefined && sendLag.p50Ms > LATE_MS)
    warnings.push(
      `THE GENERATOR WAS THE LIMIT: half of the requests left ${sendLag.p50Ms} ms late or more, ` +
        "although a connection was free. Use more --threads, a lower --rate or another machine.",
    );
  else if (sendLag !== undefined && sendLag.p99Ms > LATE_MS)
    warnings.push(
      `The generator was late: 1 % of the requests left ${sendLag.p99Ms} ms late or more, ` +
        "although a connection was free. The highest latencies include that delay.",
    );
  if (generator.waitedShare > MANY)
    warnings.push(
      `${(100 * generator.waitedShare).toFixed(1)} % of the requests had to wait for a free connection: ` +
        `the server is slower than the rate, or ${count(settings.connections, "connection")} ` +
        `${settings.connections === 1 ? "is" : "are"} too few. The wait is part of the latency.`,
    );
  if (stopped) warnings.push(`Ended early, after ${seconds} of ${settings.durationSeconds} s.`);
  return warnings;
}

export function writeNotes({generator, loop, requests, url, machine}: Measured): string[] {
  const notes: string[] = [];
  if (loop === "closed" && requests.due > 0)
    notes.push(
      "Closed loop: latency is service time. No requests are sent while the server stalls, so a stall counts once per " +
        "connection. Measure latency with --rate.",
    );
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname))
    notes.push(
      `The generator ran on the server's machine, and took ${generator.cpuCores} of its ${count(machine.cores, "core")}.`,
    );
  return notes;
}
