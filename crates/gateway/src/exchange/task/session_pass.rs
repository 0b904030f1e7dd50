//! A legacy client of a legacy server: the methods are passed on unchanged, except for the task id,
//! which belongs to one caller.

use super::{methods::TaskCall, reseal::resealed_reply};
use crate::exchange::{call::Exchange, session_asks};
use turnbuckle_server::RelayReply;

pub(super) async fn serve(call: TaskCall) -> RelayReply {
    let sealed = call.sealed;
    let exchange = Exchange::of_task(
        call.context,
        call.member,
        call.lane,
        call.request,
        call.id.own,
        sealed.clone(),
    );
    resealed_reply(session_asks::run(&exchange).await, &sealed)
}
