/** What the verified answers showed: the wrong ones, and how many accounts and slots exist in the right ones. */

/** Do the account and its slots exist? */
export interface Presence {
  readonly account: boolean;
  /** In the order of the request. */
  readonly slots: readonly boolean[];
}

/** Tells how much exists. A server that answers "absent" for everything is right, but it is not the load that was wanted. */
export interface PresenceCount {
  readonly present: number;
  readonly absent: number;
}

export function countPresence(present: readonly boolean[]): PresenceCount {
  const count = present.filter(isPresent => isPresent).length;
  return {present: count, absent: present.length - count};
}

export interface WrongAnswer {
  /** The call that got the wrong answer. */
  readonly call: string;
  readonly reason: string;
}

export interface Verification {
  /** Calls whose result was checked. */
  readonly checked: number;
  readonly wrong: number;
  /** The first few wrong answers. */
  readonly wrongAnswers: readonly WrongAnswer[];
  /** In right answers: accounts and slots that are proven to exist, or to be absent. */
  readonly accounts: PresenceCount;
  readonly slots: PresenceCount;
  /** Right answers to estimates. Only their form can be checked. */
  readonly estimates: number;
  /** What readers should know about the roots, or undefined. */
  readonly note: string | undefined;
  /** Why nothing was checked, or undefined if something was. */
  readonly skipped: string | undefined;
}

const NONE: PresenceCount = {present: 0, absent: 0};

/** A verification in which nothing was checked. */
export function createSkipped(reason: string): Verification {
  const counts = {checked: 0, wrong: 0, wrongAnswers: [], accounts: NONE, slots: NONE, estimates: 0};
  return {...counts, note: undefined, skipped: reason};
}
