/**
 * A line of /readyz. The cause often is what a node, a broker or the system said, with names of hosts and files. So anybody reads what
 * has happened, and only operators read why.
 */
export function withCause(what: string, cause: string | undefined, isPublic: boolean): string {
  return isPublic ? what : `${what}: ${cause}`;
}
