/**
 * Which names the Host header may have. The owner of a name can point it at this machine while a page of that name is
 * open (DNS rebinding): the browser takes both for one origin, and --cors cannot keep the page out. A page cannot send
 * an address as Host.
 */
import {isIP} from "node:net";

const ANY_HOST = "*";

const LOOPBACK = /^(localhost|127\..*|::1)$/;
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** A name or an IPv4 address, or an IPv6 address in brackets, and a port. */
const HOST_AND_PORT = /^(?:([^:[\]]+)|\[([^[\]]+)\])(?::\d*)?$/;

export class AllowedHosts {
  private readonly names: ReadonlySet<string> | undefined;
  /** The header that was allowed last: most clients send the same one. */
  private last = "";

  /** @param listening - name or address. @param allowed - empty: every name, unless the server listens on loopback */
  constructor(listening: string, allowed: readonly string[]) {
    const isOpen = allowed.length === 0 ? !isLoopback(listening) : allowed.includes(ANY_HOST);
    if (!isOpen) this.names = new Set(["localhost", ...allowed.map(name => name.toLowerCase())]);
  }

  /** @param header - the Host header, "" if there is none: browsers always send one */
  allows(header: string): boolean {
    if (this.names === undefined || header === this.last || header === "") return true;
    const [, name, address] = HOST_AND_PORT.exec(header.toLowerCase()) ?? [];
    const isAllowed =
      name === undefined ? isIP(address ?? "") === 6 : isIP(name) === 4 || this.names.has(name);
    if (isAllowed) this.last = header;
    return isAllowed;
  }
}
