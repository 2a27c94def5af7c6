/** A JSON-RPC response object, as far as the tests look at it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: string;
}

export type RpcAnswer =
  | {readonly result: unknown; readonly error?: undefined}
  | {readonly error: RpcError; readonly result?: undefined};
