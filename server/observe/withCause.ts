/** A line of /readyz. Causes may name hosts and files, so only operators read them. */
export function withCause(what: string, cause: string | undefined, isPublic: boolean): string {
  return isPublic ? what : `${what}: ${cause}`;
}
