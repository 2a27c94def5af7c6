/** Decides when to poll a node: as soon as a node announces a block over WebSocket, and otherwise at an interval. */
import {orAborted, sleep} from "../../client/rpc/abortable.ts";
import {Backoff, type BackoffSettings, DEFAULT_BACKOFF} from "./backoff.ts";
import {followHeads} from "./headSubscription.ts";
import {NodeFailure, NodeRefusal} from "./node.ts";

interface HeadSignalSettings {
  /** ws or wss, with failover. Without any, the node is only polled. */
  readonly urls: readonly string[];
  /** Sent to every node, for authentication. Names in lower case. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** The polling interval, also while subscribed. */
  readonly pollMs: number;
  /** For connecting and subscribing. */
  readonly timeoutMs: number;
}

/** A change of state. While "polling", the subscription is retried. */
export interface HeadsEvent {
  readonly kind: "heads";
  /** Scheme, host and port. */
  readonly name: string;
  readonly state: "subscribed" | "polling";
  readonly reason: string;
}

const SILENCE_MS = 30_000;

export class HeadSignal {
  private readonly backoff: Backoff;
  private readonly closing = new AbortController();
  /** Resolves when the subscription has ended permanently. */
  private readonly following: Promise<void>;
  /** What ended the subscription, unless a node did. */
  private failure: unknown;
  private state: HeadsEvent["state"] | undefined;
  /** A head was announced since `next` last returned. */
  private isNew = false;
  private wake: (() => void) | undefined;

  /** @param backoff - delays between attempts to subscribe */
  constructor(
    private readonly settings: HeadSignalSettings,
    private readonly onEvent: (event: HeadsEvent) => void,
    backoff: BackoffSettings = DEFAULT_BACKOFF,
  ) {
    this.backoff = new Backoff(backoff);
    this.following = this.follow(settings.urls.map(url => new URL(url))).catch((error: unknown) => {
      this.failure = error;
      this.wake?.();
    });
  }

  /**
   * Waits until a head was announced since the last call, or for the polling interval. For one caller at a time.
   *
   * @throws the signal's reason; what ended the subscription, unless a node did
   */
  async next(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isNew && this.failure === undefined) await this.wait(signal);
    if (this.failure !== undefined) throw this.failure;
    this.isNew = false;
  }

  /** Ends the subscription. `next` only polls from then on. */
  async close(): Promise<void> {
    this.closing.abort(new Error("the subscription is closed"));
    await this.following;
  }

  private wait(signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const woken = new Promise<void>(resolve => {
      timer = setTimeout(resolve, this.settings.pollMs);
      this.wake = resolve;
    });
    return orAborted(woken, signal).finally(() => {
      clearTimeout(timer);
      this.wake = undefined;
    });
  }

  private async follow(urls: readonly URL[]): Promise<void> {
    const {signal} = this.closing;
    for (let at = 0; urls.length > 0; at = (at + 1) % urls.length) {
      const {reason, name} = await this.followOne(urls[at] as URL);
      if (signal.aborted) return;
      this.change("polling", name, reason);
      try {
        await sleep(this.backoff.next(), signal);
      } catch {
        return;
      }
    }
  }

  /** @returns why it ended */
  private async followOne(url: URL): Promise<{name: string; reason: string}> {
    const {headers, timeoutMs} = this.settings;
    const name = url.origin;
    const hooks = {
      onSubscribed: () => this.change("subscribed", name, "the node announces new blocks"),
      onHead: () => {
        // Not on subscribing: the delays must grow for a node that accepts subscriptions and then hangs up.
        this.backoff.reset();
        this.isNew = true;
        this.wake?.();
      },
    };
    try {
      return await followHeads({url, headers, timeoutMs, silenceMs: SILENCE_MS}, hooks, this.closing.signal);
    } catch (error) {
      const isOfNode = error instanceof NodeFailure || error instanceof NodeRefusal;
      if (!isOfNode && !this.closing.signal.aborted) throw error;
      return {name, reason: (error as Error).message};
    }
  }

  private change(state: HeadsEvent["state"], name: string, reason: string): void {
    if (this.state === state) return;
    this.state = state;
    this.onEvent({kind: "heads", name, state, reason});
  }
}
