/**
 * Clients that ask for proofs through HAProxy without a pause, and judge every answer: it is right, whatever happens meanwhile; and if a
 * service that can be asked held the block from the request to the answer, there is one.
 */
import type {ClientHttp2Session} from "node:http2";
import {setTimeout as pause} from "node:timers/promises";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {proofAtCall} from "../http/wireRequests.ts";
import {ask, type Edge} from "../processes/edge.ts";
import {verifyProof} from "../reference/exactProof.ts";
import type {ReferenceState} from "../reference/referenceState.ts";

/** What is known of a service behind HAProxy. */
export interface Holder {
  /** HAProxy asks it, and it was not killed. */
  isAsked: boolean;
  /** How often it was started. */
  starts: number;
  /** The newest block that it was seen to have finalized. */
  finalized: number;
}

const BETWEEN_MS = 100;
const KEYS = ["0x1", "0x2"];

export class AskingClients {
  /** Answers with a proof, and refusals while nobody held the block. */
  answered = 0;
  refused = 0;
  /** What was wrong. */
  readonly faults: string[] = [];
  private isOver = false;
  private readonly sessions: ClientHttp2Session[];
  private readonly work: Promise<void>[];

  /** @param newest - the newest block that anybody may have finalized */
  constructor(
    edge: Edge,
    count: number,
    private readonly holders: readonly Holder[],
    private readonly state: ReferenceState,
    private readonly newest: () => number,
  ) {
    this.sessions = Array.from({length: count}, (_, at) => edge.openHttp2(`127.0.1.${at + 1}`));
    this.work = this.sessions.map(session => this.askOn(session));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.work);
    for (const session of this.sessions) session.close();
  }

  private async askOn(session: ClientHttp2Session): Promise<void> {
    for (let id = 0; !this.isOver; id++) {
      // The newest blocks more often: they are the ones that some have and others have not.
      const block = Math.max(0, this.newest() - Math.floor(8 * Math.random() ** 2));
      const held = this.holders.filter(one => one.isAsked && one.finalized >= block);
      const starts = held.map(one => one.starts);
      const fault = await this.askOnce(session, id, block);
      const isHeld = held.some((one, at) => one.isAsked && one.starts === starts[at]);
      if (fault === undefined) this.answered++;
      else if (fault.isWrong || isHeld) this.faults.push(`block ${block}: ${fault.text}`);
      else this.refused++;
      await pause(BETWEEN_MS);
    }
  }

  /** @returns why there is no proof */
  private async askOnce(
    session: ClientHttp2Session,
    id: number,
    block: number,
  ): Promise<{readonly isWrong: boolean; readonly text: string} | undefined> {
    const addresses = this.state.listAddresses(block);
    const address = addresses[id % addresses.length] as string;
    const name = `0x${block.toString(16)}`;
    let text = "";
    try {
      const {status, body} = await ask(session, JSON.stringify(proofAtCall(id, address, KEYS, name)));
      text = `${status} ${body}`.slice(0, 500);
      if (status !== 200) return {isWrong: false, text};
      const {result, error} = JSON.parse(String(body));
      if (error !== undefined) return {isWrong: false, text};
      if (result.block.number !== name) return {isWrong: true, text};
      verifyProof(sha256Suite, this.state.stateRoot(block), address, KEYS, result.proof);
      return undefined;
    } catch (error) {
      return {isWrong: text !== "", text: `${(error as Error).message} ${text}`};
    }
  }
}
