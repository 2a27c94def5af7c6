/**
 * A random sample of the accounts and slots that blocks touched, for their audit. Each account has the same chance, and each
 * slot has. Its memory depends on the number of samples and on what is offered once, not on what the blocks touched.
 */
import {randomInt} from "node:crypto";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import type {AuditSubject} from "./audit.ts";

/** An account with one of its slots, or without. */
interface Touched {
  readonly address: Uint8Array;
  readonly slot: Uint8Array | undefined;
}

export class TouchedSample {
  private readonly accounts: Reservoir;
  private readonly slots: Reservoir;

  /** What `offerOnce` has offered. */
  private readonly known = new Set<string>();

  /** @param count - of accounts, and of slots */
  constructor(count: number) {
    this.accounts = new Reservoir(count);
    this.slots = new Reservoir(count);
  }

  /** Notes what a block touches. Its slots are those that it gives a new value. */
  note({accounts}: BlockDifference): void {
    for (let position = 0; position < accounts.count; position++) {
      const {address, change} = accounts.at(position);
      this.offer({address, slots: (change?.storage ?? []).map(({slot}) => slot)});
    }
  }

  offer({address, slots}: AuditSubject): void {
    this.accounts.offer({address, slot: undefined});
    for (const slot of slots) this.slots.offer({address, slot});
  }

  /** As `offer`, without what it has offered since the last `take`: what comes with each block must not fill the sample. */
  offerOnce({address, slots}: AuditSubject): void {
    const account = latin1(address);
    if (this.isNew(account)) this.accounts.offer({address, slot: undefined});
    for (const slot of slots) if (this.isNew(account + latin1(slot))) this.slots.offer({address, slot});
  }

  /** Empties the sample. @returns each account once, with the slots of it that were chosen */
  take(): AuditSubject[] {
    this.known.clear();
    const subjects = new Map<string, {address: Uint8Array; slots: Map<string, Uint8Array>}>();
    for (const {address, slot} of [...this.accounts.take(), ...this.slots.take()]) {
      const key = latin1(address);
      const subject = subjects.get(key) ?? {address, slots: new Map()};
      subjects.set(key, subject);
      if (slot !== undefined) subject.slots.set(latin1(slot), slot);
    }
    return [...subjects.values()].map(({address, slots}) => ({address, slots: [...slots.values()]}));
  }

  private isNew(key: string): boolean {
    if (this.known.has(key)) return false;
    this.known.add(key);
    return true;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** Keeps a uniform sample of everything offered (algorithm R). What is kept is copied. */
class Reservoir {
  private kept: Touched[] = [];
  private offered = 0;

  constructor(private readonly size: number) {}

  offer({address, slot}: Touched): void {
    this.offered++;
    const place = this.offered <= this.size ? this.kept.length : randomInt(this.offered);
    if (place >= this.size) return;
    this.kept[place] = {
      address: new Uint8Array(address),
      slot: slot === undefined ? undefined : new Uint8Array(slot),
    };
  }

  take(): readonly Touched[] {
    const {kept} = this;
    this.kept = [];
    this.offered = 0;
    return kept;
  }
}
