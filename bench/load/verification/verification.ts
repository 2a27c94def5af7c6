/** What verified answers showed: what is wrong, and what of the rest is there. */

/** Does it exist? */
export interface Presence {
  readonly account: boolean;
  /** In the order of the request. */
  readonly slots: readonly boolean[];
}

/** A server that has none of what it is asked for is right, and not what was to be loaded. */
export interface PresenceCount {
  readonly present: number;
  readonly absent: number;
}

export function countPresence(present: readonly boolean[]): PresenceCount {
  const count = present.filter(isPresent => isPresent).length;
  return {present: count, absent: present.length - count};
}

export interface WrongAnswer {
  /** The call that was asked. */
  readonly call: string;
  readonly reason: string;
}

export interface Verification {
  /** Calls whose result was checked. */
  readonly checked: number;
  readonly wrong: number;
  /** The first few. */
  readonly wrongAnswers: readonly WrongAnswer[];
  /** Of the right ones: accounts and slots that are proved to be there, or not to be. */
  readonly accounts: PresenceCount;
  readonly slots: PresenceCount;
  /** Of the right ones: only their form can be checked. */
  readonly estimates: number;
  /** What the reader should know of the roots; null where there is nothing. */
  readonly note: string | null;
  /** Why nothing was checked; null where something was to be. */
  readonly skipped: string | null;
}

/** Why nothing was checked. */
export function createSkipped(reason: string): Verification {
  const none = {present: 0, absent: 0};
  return {
    checked: 0,
    wrong: 0,
    wrongAnswers: [],
    accounts: none,
    slots: none,
    estimates: 0,
    note: null,
    skipped: reason,
  };
}
