/** What others may know of a thread (threads/supervisor.ts). */
export const THREAD_STATES = ["off", "starting", "up", "down"] as const;

export interface WatchedThread {
  /** "proof" and the like. */
  readonly kind: string;
  readonly state: (typeof THREAD_STATES)[number];
  /** Why it was lost last. */
  readonly reason: string;
}
