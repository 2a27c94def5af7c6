/** Fields of a caller's object. Unknown ones are ignored; a known name in the wrong case is refused: it is meant. */
import {createParamsError} from "./rpcError.ts";

export class FieldNames {
  private readonly exact: ReadonlySet<string>;
  private readonly names: ReadonlyMap<string, string>;
  private readonly longest: number;

  constructor(names: readonly string[]) {
    this.exact = new Set(names);
    this.names = new Map(names.map(name => [name.toLowerCase(), name]));
    this.longest = Math.max(...names.map(({length}) => length));
  }

  /** @throws RpcError INVALID_PARAMS */
  requireCase(fields: Readonly<Record<string, unknown>>, path: string): void {
    const fault = this.findFault(fields);
    if (fault !== undefined) throw createParamsError(`${path}: ${fault}`);
  }

  /** Hot: a body may have thousands of objects. @returns "expected the name X, got Y"; undefined: nothing is wrong */
  findFault(fields: Readonly<Record<string, unknown>>): string | undefined {
    for (const name of Object.keys(fields)) {
      if (name.length > this.longest || this.exact.has(name) || fields[name] === null) continue;
      const meant = this.names.get(name.toLowerCase());
      if (meant !== undefined) return `expected the name ${meant}, got ${name}`;
    }
    return undefined;
  }
}
