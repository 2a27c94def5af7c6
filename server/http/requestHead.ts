/**
 * The headers that matter here, read in one pass: with uWebSockets.js, asking for each costs as much.
 *
 * Refuses heads that two servers could read differently (RFC 9112, section 6). Behind a proxy that reads another end
 * than proofd, one client could send a request in the name of another. uWebSockets.js lets most through; node:http
 * refuses most itself. What only the library sees is in a table of test/integration/server/http.test.ts, and
 * SECURITY.md says what a proxy must do about it.
 */
import type {HttpRequest} from "../listener/exchange.ts";
import {shorten} from "../rpc/rpcError.ts";

const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "post"],
  ["GET", "get"],
]);
const UPPER_CASE = /^[A-Z-]+$/;

/** Each is "" if there is none. */
export class RequestHead {
  readonly verb: string;
  host = "";
  origin = "";
  accept = "";
  contentType = "";
  contentEncoding = "";
  contentLength = "";
  requestId = "";
  ifNoneMatch = "";
  private transferEncoding = "";
  /** What is wrong with the method, the host or where the request ends, "expected X, got Y". */
  readonly fault: string | undefined;
  /** It is no request, but the rest of a trailer of the one before, as uWebSockets.js reads it. */
  readonly isTrailer: boolean;

  get isChunked(): boolean {
    return this.transferEncoding !== "";
  }

  constructor(request: HttpRequest) {
    let hosts = 0;
    let lengths = 0;
    let encodings = 0;
    request.forEach((name, value) => {
      switch (name) {
        case "host":
          hosts++;
          this.host = value;
          break;
        case "origin":
          this.origin = value;
          break;
        case "accept":
          this.accept = this.accept === "" ? value : `${this.accept},${value}`;
          break;
        case "x-request-id":
          this.requestId = value;
          break;
        case "if-none-match":
          this.ifNoneMatch = this.ifNoneMatch === "" ? value : `${this.ifNoneMatch},${value}`;
          break;
        case "content-type":
          this.contentType = value;
          break;
        case "content-encoding":
          this.contentEncoding = value;
          break;
        case "content-length":
          lengths++;
          this.contentLength = value;
          break;
        case "transfer-encoding":
          encodings++;
          this.transferEncoding = value;
      }
    });
    const method = request.getCaseSensitiveMethod();
    const verb = VERBS.get(method);
    this.verb = verb ?? method.toLowerCase();
    this.isTrailer = verb === undefined && method.includes(":");
    this.fault = this.findFault(method, hosts, lengths, encodings);
  }

  private findFault(method: string, hosts: number, lengths: number, encodings: number): string | undefined {
    if (!VERBS.has(method) && !UPPER_CASE.test(method))
      return `expected a method in upper case, got ${shorten(method)}`;
    if (hosts === 1 && this.host === "") return "expected a Host header with a name or an address, got none";
    if (hosts > 1) return `expected one Host header, got ${hosts}`;
    if (lengths + encodings > 1)
      return `expected one Content-Length or Transfer-Encoding, got ${lengths + encodings}`;
    if (lengths === 1 && !/^\d+$/.test(this.contentLength))
      return `expected a Content-Length of decimal digits, got ${shorten(this.contentLength)}`;
    if (encodings === 1 && this.transferEncoding.toLowerCase() !== "chunked")
      return `expected Transfer-Encoding: chunked, got ${shorten(this.transferEncoding)}`;
    // uWebSockets.js ends the headers at one without a name, and does not see a length behind it.
    if (lengths + encodings === 0 && method === "POST")
      return "expected a POST with Content-Length or Transfer-Encoding, got neither";
    return undefined;
  }
}
