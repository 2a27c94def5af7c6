// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// An ordinary account can delegate to this code (EIP-7702), to make several calls in one transaction.
contract Batcher {
    struct Call {
        address to;
        bytes input;
    }

    error NotSelf(address caller);
    error CallFailed(uint256 position);

    function run(Call[] calldata calls) external {
        if (msg.sender != address(this)) revert NotSelf(msg.sender);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool done, ) = calls[i].to.call(calls[i].input);
            if (!done) revert CallFailed(i);
        }
    }
}
