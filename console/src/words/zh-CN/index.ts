import alertSettings from "./alertSettings";
import alerts from "./alerts";
import audit from "./audit";
import deadLetters from "./deadLetters";
import errors from "./errors";
import events from "./events";
import frame from "./frame";
import health from "./health";
import instances from "./instances";
import jobs from "./jobs";
import login from "./login";
import overview from "./overview";
import rolling from "./rolling";
import sources from "./sources";
import states from "./states";
import tasks from "./tasks";
import tenants from "./tenants";
import workers from "./workers";

export default {
  alertSettings,
  alerts,
  audit,
  deadLetters,
  events,
  frame,
  health,
  instances,
  jobs,
  login,
  overview,
  rolling,
  sources,
  states,
  tasks,
  tenants,
  workers,
  errors,
};
