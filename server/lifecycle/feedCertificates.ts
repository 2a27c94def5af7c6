/** Reads every hour when the certificates of a feed's servers end: connections stay for weeks, and show no new ones. */
import {setTimeout as sleep} from "node:timers/promises";
import type {Logger} from "pino";
import {readCertificateEnd} from "../../nodes/feed/natsConnection.ts";
import type {Metrics} from "../observe/metrics.ts";

const LOOK_MS = 3_600_000;

export class FeedCertificates {
  private readonly stopping = new AbortController();
  /** By host and port, in seconds since 1970. Servers that no longer answer stay. */
  private readonly ends = new Map<string, number>();
  private readonly work: Promise<void>;

  constructor(
    private readonly urls: readonly string[],
    metrics: Metrics,
    private readonly log: Logger,
  ) {
    metrics.feedCertificates = this.ends;
    this.work = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.work;
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const {signal} = this.stopping;
    while (!signal.aborted) {
      await Promise.all(this.urls.map(url => this.look(url)));
      await sleep(LOOK_MS, undefined, {signal}).catch(() => {}); // the loop sees the signal
    }
  }

  private async look(url: string): Promise<void> {
    const server = new URL(url).host;
    const {signal} = this.stopping;
    try {
      const [endMs, reason] = await readCertificateEnd(url, signal);
      this.ends.set(server, endMs / 1000);
      if (reason !== undefined)
        this.log.warn({server, reason}, "the certificate of a feed's server is not trusted");
    } catch (error) {
      if (signal.aborted) return;
      const {message, code} = error as NodeJS.ErrnoException; // one of several addresses has only a code
      this.log.warn({server, reason: message || code}, "the certificate of a feed's server was not seen");
    }
  }
}
