"""An MJCF text that several tests use, written by hand."""

ARM = """<mujoco model="arm of all kinds">
  <compiler angle="degree" eulerseq="xyz"/>
  <option gravity="0 1 -9.81"/>
  <default>
    <joint damping="0.1" armature="0.02"/>
    <general forcerange="-40 40"/>
    <geom mass="0"/>
    <default class="small"><joint damping="0.3" frictionloss="0.05" range="-90 60"/>
      <default class="smaller"><joint armature="0.005"/><position gear="2"/></default></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1" mass="4"/>
    <body name="foot" pos="0 0 0.3" quat="0.8 0 0 0.6">
      <inertial pos="0 0 0.1" mass="4" diaginertia="0.2 0.3 0.4"/>
      <body name="post" pos="0 0 0.2" euler="10 20 -30">
        <joint name="waist" pos="0.01 0.02 -0.03" axis="0 0.1 1"/>
        <inertial pos="0.01 0 0.1" quat="1 0.2 0.3 -0.1" mass="3" diaginertia="0.02 0.03 0.04"/>
        <body name="upper" pos="0 0.1 0.2" xyaxes="0 1 0 -1 0.2 0.5" childclass="small">
          <joint name="shoulder" axis="0 1 0"/>
          <joint name="twist" type="slide" axis="1 0 1" pos="0.1 0 0" range="-0.1 0.3"
            class="smaller"/>
          <inertial pos="0.2 0.01 0" mass="2" fullinertia="0.05 0.06 0.07 0.01 -0.02 0.005"/>
          <geom type="sphere" size="0.1"/>
          <body name="bracket" pos="0.2 0 0" axisangle="0 1 0 57">
            <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.002 0.003 0.004"/>
            <body name="fore" pos="0.1 0.2 0" zaxis="0 -0.2 1">
              <joint name="elbow" axis="1 -2 3" range="-120 80" actuatorfrcrange="-30 20"/>
              <inertial pos="0.1 0 0.02" mass="1.5" diaginertia="0.02 0.03 0.04"/>
              <body name="tool0" pos="0.1 0 0.3"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="m" joint="waist" gear="10"/>
    <position joint="shoulder" kp="3"/>
    <position joint="twist" kp="3" class="smaller"/>
  </actuator>
</mujoco>
"""
