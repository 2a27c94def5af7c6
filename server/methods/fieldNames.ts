/**
 * The names that an object of a caller may have. A field of another name is ignored. But a name that is right except for its
 * case is refused: the caller means that field, and the answer without it would be wrong.
 */
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export class FieldNames {
  /** By their lower case. */
  private readonly names: ReadonlyMap<string, string>;
  private readonly longest: number;

  constructor(names: readonly string[]) {
    this.names = new Map(names.map(name => [name.toLowerCase(), name]));
    this.longest = Math.max(...names.map(({length}) => length));
  }

  /** Hot: a call may have thousands of objects. @throws RpcError INVALID_PARAMS */
  requireCase(fields: Readonly<Record<string, unknown>>, path: string): void {
    for (const name of Object.keys(fields)) {
      if (name.length > this.longest) continue;
      const meant = this.names.get(name.toLowerCase());
      if (meant === undefined || meant === name || fields[name] === null) continue;
      throw new RpcError(RpcCode.INVALID_PARAMS, `${path}: expected the name ${meant}, got ${name}`);
    }
  }
}
