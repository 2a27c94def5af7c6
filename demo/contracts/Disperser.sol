// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Splits the ether that it gets into equal parts. A part that goes to a new address makes an account.
contract Disperser {
    error Refused(address recipient);

    function disperse(address[] calldata recipients) external payable {
        uint256 part = msg.value / recipients.length;
        for (uint256 i = 0; i < recipients.length; i++) {
            (bool done, ) = recipients[i].call{value: part}("");
            if (!done) revert Refused(recipients[i]);
        }
    }
}
