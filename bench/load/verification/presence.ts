/** What verified answers prove: a server that has none of what it is asked for is right, and not what was to be loaded. */

/** Does it exist? */
export interface Presence {
  readonly account: boolean;
  /** In the order of the request. */
  readonly slots: readonly boolean[];
}

export interface PresenceCount {
  readonly present: number;
  readonly absent: number;
}

export function countPresence(present: readonly boolean[]): PresenceCount {
  const count = present.filter(isPresent => isPresent).length;
  return {present: count, absent: present.length - count};
}
