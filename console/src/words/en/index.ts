import errors from "./errors";
import frame from "./frame";
import health from "./health";
import lists from "./lists";
import login from "./login";
import states from "./states";

/** The texts of the frame around every page, and of the parts that pages share. */
export default { errors, frame, health, lists, login, states };
