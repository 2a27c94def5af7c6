/** The counts and findings of a check. */

import {StoreError} from "../errors.ts";

export interface Findings {
  blocks: number;
  pages: number;
  leaves: number;
  findings: number;
  /** @param where - the block, tree, page or leaf. @param what - what is wrong there */
  report(where: string, what: string): void;
  /** Called from time to time. @param of - what is being checked. @returns false to end the check here */
  pause(of: string): Promise<boolean>;
}

/** Turns damage into the text of a finding. Throws every other error on. */
export function toFinding(error: unknown): string {
  if (error instanceof StoreError) return `${error.code}: ${error.message}`;
  // The page's checksum is right, but its offsets lie beyond its end.
  if (error instanceof RangeError) return `RECORD_DAMAGED: ${error.message}`;
  throw error;
}
