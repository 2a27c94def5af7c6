/** The result of verification: the wrong answers, and how many accounts and slots exist according to the others. */

/** Whether an account and its slots exist. */
export interface Presence {
  readonly account: boolean;
  /** In the order of the request. */
  readonly slots: readonly boolean[];
}

/** If everything is absent, the answers may be right, but the load probably asked for the wrong keys. */
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
  /** Accounts and slots that the correct answers prove to exist or to be absent. */
  readonly accounts: PresenceCount;
  readonly slots: PresenceCount;
  /** Well-formed estimates. Their values cannot be verified. */
  readonly estimates: number;
  /** Why nothing was checked; undefined if something was. */
  readonly skipped: string | undefined;
}

const NONE: PresenceCount = {present: 0, absent: 0};

export function createSkipped(reason: string): Verification {
  const counts = {checked: 0, wrong: 0, wrongAnswers: [], accounts: NONE, slots: NONE, estimates: 0};
  return {...counts, skipped: reason};
}
